/* SPDX-License-Identifier: MIT */
/* The bits of a key in a textbook filter, as docs/format.md gives them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "filter/bloom_classic.h"
#include "support/filter_support.h"

/* The closed form: h1 + i * h2 + (i^3 - i) / 6 * S, scaled to the bits. */
static uint64_t bit_of(uint64_t hash, uint64_t i, uint64_t bits)
{
    uint64_t h1 = bloom_mix(hash);
    uint64_t h2 = bloom_mix(hash ^ UINT64_C(0xd6e8feb86659fd93));
    uint64_t g =
        h1 + i * h2 + (i * i * i - i) / 6 * UINT64_C(0x9e3779b97f4a7c15);
    return bloom_multiply_high(g, bits);
}

static void test_bits_are_those_of_the_format(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1,
                                     2,
                                     7,
                                     64,
                                     513,
                                     1000003,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 32) + 1,
                                     UINT64_C(1) << 60};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (uint64_t n = 0; n < 200; n++) {
            uint64_t hash = n == 0 ? 0 : test_hash(s, n);
            classic_probes p = classic_begin(hash);
            for (uint64_t i = 0; i < CLASSIC_MAX_FUNCTIONS; i++) {
                uint64_t bit = classic_next(&p, sizes[s]);
                assert_true(bit < sizes[s]);
                assert_true(bit == bit_of(hash, i, sizes[s]));
            }
        }
    }
}

static void test_add_sets_these_bits_alone(void **state)
{
    (void)state;
    enum { BITS = 997, FUNCTIONS = 9 };
    for (uint64_t n = 0; n < 100; n++) {
        uint8_t data[(BITS + 7) / 8] = {0};
        uint8_t wanted[sizeof data] = {0};
        uint64_t hash = test_hash(3, n);
        for (uint64_t i = 0; i < FUNCTIONS; i++) {
            uint64_t bit = bit_of(hash, i, BITS);
            wanted[bit / 8] |= (uint8_t)(1 << bit % 8);
        }
        assert_false(classic_may_contain(data, BITS, hash, FUNCTIONS));
        assert_true(classic_add(data, BITS, hash, FUNCTIONS));
        assert_memory_equal(data, wanted, sizeof data);
        assert_true(classic_may_contain(data, BITS, hash, FUNCTIONS));
        assert_false(classic_add(data, BITS, hash, FUNCTIONS));
        uint64_t bit = bit_of(hash, n % FUNCTIONS, BITS);
        data[bit / 8] &= (uint8_t) ~(1 << bit % 8);
        assert_false(classic_may_contain(data, BITS, hash, FUNCTIONS));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_are_those_of_the_format),
        cmocka_unit_test(test_add_sets_these_bits_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
