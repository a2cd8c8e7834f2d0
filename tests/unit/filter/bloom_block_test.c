/* SPDX-License-Identifier: MIT */
/* The mapping from hashes to blocks and bits, which is part of the format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "filter/bloom_block.h"
#include "support/filter_support.h"

/* The high half of a product, by long multiplication of 16-bit digits. */
static uint64_t multiply_high_slowly(uint64_t a, uint64_t b)
{
    uint64_t digits[9] = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            uint64_t p = (a >> 16 * i & 0xffff) * (b >> 16 * j & 0xffff);
            digits[i + j] += p & 0xffff;
            digits[i + j + 1] += p >> 16;
        }
    for (int i = 0; i < 8; i++) {
        digits[i + 1] += digits[i] >> 16;
        digits[i] &= 0xffff;
    }
    return digits[4] | digits[5] << 16 | digits[6] << 32 | digits[7] << 48;
}

static void test_multiply_high(void **state)
{
    (void)state;
    assert_true(bloom_multiply_high(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t a = test_hash(1, i) >> i % 64;
        uint64_t b = test_hash(2, i) >> i % 61;
        assert_true(bloom_multiply_high(a, b) == multiply_high_slowly(a, b));
    }
}

static void test_block_numbers_rise_with_hashes(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 1000, 22531, UINT64_C(1) << 51};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        uint64_t last = 0;
        for (uint64_t i = 0; i <= 4096; i++) {
            uint64_t hash = i == 4096 ? UINT64_MAX : i << 52;
            uint64_t block = bloom_block_number(hash, counts[c]);
            assert_true(block >= last && block < counts[c]);
            last = block;
        }
        assert_true(last == counts[c] - 1);
    }
}

/* Worked out by other means: a filter written once is read forever. */
static void test_bits_are_those_of_the_format(void **state)
{
    (void)state;
    static const struct {
        uint64_t hash;
        unsigned bits[BLOOM_MAX_FUNCTIONS];
    } cases[] = {
        {UINT64_C(0x0000000000000000),
         {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
        {UINT64_C(0x0000000000100000),
         {361, 25, 386, 331, 149, 286, 61, 268, 254, 173, 48, 302, 2, 405, 157,
          96}},
        {UINT64_C(0x0123456789abcdef),
         {56, 232, 300, 367, 347, 503, 187, 497, 50, 116, 460, 354, 394, 379,
          82, 453}},
        {UINT64_C(0xfedcba9876500000),
         {83, 424, 359, 222, 305, 427, 24, 431, 126, 287, 229, 295, 22, 344,
          362, 245}},
        {UINT64_C(0xffffffffffffffff),
         {508, 424, 437, 134, 498, 14, 441, 351, 172, 482, 478, 48, 257, 156,
          501, 356}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (unsigned i = 0; i < BLOOM_MAX_FUNCTIONS; i++)
            assert_int_equal(bloom_probe_bit(bloom_mix(cases[c].hash), i),
                             cases[c].bits[i]);
}

static void test_all_bits_of_a_key_must_be_set(void **state)
{
    (void)state;
    for (unsigned functions = 1; functions <= BLOOM_MAX_FUNCTIONS;
         functions++) {
        uint8_t block[BLOOM_BLOCK_BYTES] = {0};
        uint64_t hash = test_hash(3, functions);
        assert_false(bloom_block_may_contain(block, hash, functions));
        bloom_block_add(block, hash, functions);
        assert_true(bloom_block_may_contain(block, hash, functions));
        for (unsigned bit = 0; bit < BLOOM_BLOCK_BITS; bit++) {
            uint8_t mask = (uint8_t)(1u << bit % 8);
            if ((block[bit / 8] & mask) == 0)
                continue;
            block[bit / 8] ^= mask;
            assert_false(bloom_block_may_contain(block, hash, functions));
            block[bit / 8] ^= mask;
        }
    }
}

/* Hashes of one block of a big filter differ in few bits only. */
static void test_bits_are_even_for_neighbouring_hashes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BLOOM_MAX_FUNCTIONS; i++) {
        static unsigned counts[BLOOM_BLOCK_BITS];
        memset(counts, 0, sizeof counts);
        for (uint64_t n = 0; n < 512 * 200; n++)
            counts[bloom_probe_bit(bloom_mix(n << 20), i)]++;
        double chi = 0;
        for (unsigned b = 0; b < BLOOM_BLOCK_BITS; b++)
            chi += (counts[b] - 200.0) * (counts[b] - 200.0) / 200.0;
        /* 511 degrees of freedom: six standard deviations. */
        assert_true(chi > 511 - 6 * 32 && chi < 511 + 6 * 32);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiply_high),
        cmocka_unit_test(test_block_numbers_rise_with_hashes),
        cmocka_unit_test(test_bits_are_those_of_the_format),
        cmocka_unit_test(test_all_bits_of_a_key_must_be_set),
        cmocka_unit_test(test_bits_are_even_for_neighbouring_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
