/* SPDX-License-Identifier: MIT */
/* All versions of the probe give the same answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu_features.h"
#include "filter/bloom_block.h"
#include "filter/bloom_probe.h"
#include "support/filter_support.h"

#define BLOCKS 64

/* Blocks from empty to full, so that both answers are common for each number
 * of hash functions. */
static void fill(uint8_t blocks[BLOCKS][BLOOM_BLOCK_BYTES], uint64_t seed)
{
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned bit = 0; bit < BLOOM_BLOCK_BITS; bit++) {
            uint64_t random = test_hash(seed, b * BLOOM_BLOCK_BITS + bit);
            unsigned mask = 1u << bit % 8;
            if (random % BLOCKS <= b)
                blocks[b][bit / 8] |= (uint8_t)mask;
            else
                blocks[b][bit / 8] &= (uint8_t)~mask;
        }
}

static void compare(bloom_probe_fn probe, unsigned functions, uint64_t seed)
{
    static uint8_t memory[BLOCKS][BLOOM_BLOCK_BYTES];
    fill(memory, seed);
    const uint8_t *blocks[BLOCKS];
    uint64_t hashes[BLOCKS];
    unsigned yes = 0;
    for (uint64_t round = 0; round < 2000; round++) {
        bool got[BLOCKS];
        bool wanted[BLOCKS];
        for (unsigned i = 0; i < BLOCKS; i++) {
            blocks[i] = memory[i];
            hashes[i] = test_hash(seed + 1, round * BLOCKS + i);
        }
        probe(blocks, hashes, BLOCKS, functions, got);
        bloom_probe_scalar(blocks, hashes, BLOCKS, functions, wanted);
        assert_memory_equal(got, wanted, sizeof got);
        for (unsigned i = 0; i < BLOCKS; i++)
            yes += got[i];
    }
    assert_in_range(yes, 2000, 2000 * (BLOCKS - 1));
}

static void test_scalar_probe_is_the_block_probe(void **state)
{
    (void)state;
    uint8_t block[BLOOM_BLOCK_BYTES] = {0};
    uint64_t hashes[3] = {test_hash(1, 1), test_hash(1, 2), test_hash(1, 3)};
    bloom_block_add(block, hashes[1], 7);
    const uint8_t *blocks[3] = {block, block, block};
    bool got[3] = {true, false, true};
    bloom_probe_scalar(blocks, hashes, 3, 7, got);
    assert_false(got[0]);
    assert_true(got[1]);
    assert_false(got[2]);
    bloom_probe_scalar(blocks, hashes, 0, 7, got);
}

static void test_chosen_version_equals_scalar(void **state)
{
    (void)state;
    for (unsigned functions = 1; functions <= BLOOM_MAX_FUNCTIONS; functions++)
        compare(bloom_probe_choose(), functions, functions);
}

static void test_avx2_is_chosen_where_it_runs(void **state)
{
    (void)state;
    bloom_probe_fn chosen = bloom_probe_choose();
#ifdef KSV_HAVE_AVX2
    assert_true((chosen == bloom_probe_avx2) == cpu_has_avx2());
#else
    assert_false(cpu_has_avx2());
    assert_true(chosen == bloom_probe_scalar);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_probe_is_the_block_probe),
        cmocka_unit_test(test_chosen_version_equals_scalar),
        cmocka_unit_test(test_avx2_is_chosen_where_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
