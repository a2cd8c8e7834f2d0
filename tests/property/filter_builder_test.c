/* SPDX-License-Identifier: MIT */
/* Filters in memory against a set: no key is ever lost, rates are those that
 * were predicted, and unions, folds and files say what their parts said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "io/memory_file_system.h"
#include "support/filter_support.h"
#include "support/random.h"

/* ThreadSanitizer makes this some ten times slower, and has nothing to find. */
#ifdef __SANITIZE_THREAD__
#define SHARE 10
#else
#define SHARE 1
#endif

#define BATCH 1000

/* How many of test_hash(seed, first..end-1) may be there. */
static uint64_t count_range(const ksv_filter_builder *b, uint64_t seed,
                            uint64_t first, uint64_t end)
{
    uint64_t hashes[BATCH];
    bool answers[BATCH];
    uint64_t positives = 0;
    for (uint64_t i = first; i < end; i += BATCH) {
        size_t n = end - i < BATCH ? (size_t)(end - i) : BATCH;
        for (size_t k = 0; k < n; k++)
            hashes[k] = test_hash(seed, i + k);
        ksv_filter_builder_may_contain_batch(b, hashes, n, answers);
        for (size_t k = 0; k < n; k++)
            positives += answers[k];
    }
    return positives;
}

static uint64_t keys_of(ksv_filter_builder *b)
{
    ksv_filter_info info;
    ksv_filter_builder_get_info(b, &info);
    return info.keys;
}

static void expect_near(const char *what, double got, double wanted,
                        double allowed)
{
    if (got < wanted * (1 - allowed) || got > wanted * (1 + allowed))
        fail_msg("%s: %g instead of %g", what, got, wanted);
}

/* Fills a filter with `keys` keys and compares its rate with the prediction:
 * `probes` are enough for a tenth to be four standard deviations. */
static void check_rate(const ksv_filter_options *o, uint64_t keys)
{
    ksv_filter_builder *b = test_open_builder(o);
    uint64_t seed = o->plan.bits + o->plan.hash_functions;
    double predicted =
        ksv_filter_plan_expected_fpr(&o->plan, keys, o->hash_bits);
    uint64_t probes = (uint64_t)(1600 / predicted) + BATCH;
    test_add_range(b, seed, 0, keys);
    /* The last keys wait and are compared themselves: not after this. */
    expect_near("keys", (double)keys_of(b), (double)keys, 0.01);
    assert_true(count_range(b, seed, 0, keys) == keys);
    double rate = (double)count_range(b, seed + 1, 0, probes) / (double)probes;
    printf("%s, %llu bits, %u functions, %llu keys: predicted %.4f %%, "
           "measured %+.1f %%\n",
           o->plan.kind == KSV_FILTER_CLASSIC ? "classic" : "blocked",
           (unsigned long long)o->plan.bits, o->plan.hash_functions,
           (unsigned long long)keys, 100 * predicted,
           100 * (rate / predicted - 1));
    expect_near("rate", rate, predicted, 0.1);
    ksv_filter_builder_close(b);
}

static void test_rates(void **state)
{
    (void)state;
    static const struct {
        uint64_t bits;
        unsigned functions;
        uint64_t keys;
    } shapes[] = {
        {5000, 7, 500},          {12345, 1, 1000},      {65536, 4, 8000},
        {1000003, 7, 100000},    {1u << 20, 10, 70000}, {9585059, 7, 1000000},
        {14378000, 10, 1000000}, {1200000, 64, 40000},  {3000000, 3, 1500000},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (shapes[i].keys > 200000 && SHARE > 1)
            continue;
        ksv_filter_options o = test_classic_options(
            shapes[i].bits, shapes[i].functions, shapes[i].keys);
        check_rate(&o, shapes[i].keys);
    }
    ksv_filter_options o = test_blocked_options(50000, 0.01);
    check_rate(&o, 50000);
    o = test_blocked_options(200000, 0.001);
    check_rate(&o, 200000);
    check_rate(&o, 300000); /* too many */
}

/* A small filter is one of chance: the mean over many is what is predicted. */
static void test_mean_rate_of_tiny_filters(void **state)
{
    (void)state;
    enum { FILTERS = 2000, PROBES = 2000 };
    ksv_filter_options o = test_classic_options(100, 3, 20);
    ksv_filter_builder *b = test_open_builder(&o);
    uint64_t positives = 0;
    for (uint64_t i = 0; i < FILTERS; i++) {
        ksv_filter_builder_reset(b);
        test_add_range(b, i, 0, 20);
        assert_true(count_range(b, i, 0, 20) == 20);
        assert_true(keys_of(b) <= 20);
        positives += count_range(b, i, 1000, 1000 + PROBES);
    }
    expect_near("rate of tiny filters",
                (double)positives / ((double)FILTERS * PROBES),
                ksv_filter_plan_expected_fpr(&o.plan, 20, 64), 0.03);
    ksv_filter_builder_close(b);
}

/* Random operations on both kinds, and a table of what was added. */
static void check_against_set(ksv_filter_options o, uint64_t seed)
{
    enum { UNIVERSE = 4000 };
    bool added[UNIVERSE] = {false};
    random_source random = {seed};
    ksv_filter_builder *b = test_open_builder(&o);
    for (int step = 0; step < 20000; step++) {
        size_t i = (size_t)random_below(&random, UNIVERSE);
        uint64_t hash = test_hash(seed, i);
        unsigned choice = (unsigned)random_below(&random, 1000);
        if (choice == 0) {
            ksv_filter_builder_reset(b);
            memset(added, 0, sizeof added);
            assert_true(keys_of(b) == 0);
        } else if (choice < 300) {
            ksv_filter_builder_add(b, hash);
            added[i] = true;
        } else {
            bool answer = ksv_filter_builder_may_contain(b, hash);
            bool other;
            ksv_filter_builder_may_contain_batch(b, &hash, 1, &other);
            if (answer != other || (added[i] && !answer))
                fail_msg("seed %llu, step %d", (unsigned long long)seed, step);
        }
    }
    size_t count = 0;
    for (size_t i = 0; i < UNIVERSE; i++)
        count += added[i];
    expect_near("keys", (double)keys_of(b), (double)count, 0.02);
    ksv_filter_builder_close(b);
}

static void test_against_a_set(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        check_against_set(test_blocked_options(4000, 0.01), seed);
        check_against_set(test_classic_options(40000, 7, 4000), seed);
        check_against_set(test_classic_options(39999, 5, 4000), seed);
    }
}

/* A folded filter is, bit by bit, one that was made of that size. */
static void test_folded_is_made_smaller(void **state)
{
    (void)state;
    static const uint64_t factors[] = {1, 2, 3, 5, 7, 16, 30};
    enum { BLOCKS = 77, KEYS = 3000 };
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        ksv_filter_options o = test_blocked_options(KEYS, 0.01);
        o.plan.blocks = BLOCKS * factors[i];
        ksv_filter_builder *large = test_open_builder(&o);
        test_add_range(large, 3, 0, KEYS);
        assert_int_equal(ksv_filter_builder_fold(large, factors[i], NULL),
                         KSV_OK);
        o.plan.blocks = BLOCKS;
        ksv_filter_builder *small = test_open_builder(&o);
        test_add_range(small, 3, 0, KEYS);
        byte_file a;
        byte_file b;
        byte_file_init(&a);
        byte_file_init(&b);
        assert_int_equal(ksv_filter_builder_write(large, 1, &a.base, NULL),
                         KSV_OK);
        assert_int_equal(ksv_filter_builder_write(small, 1, &b.base, NULL),
                         KSV_OK);
        assert_int_equal(a.size_bytes, b.size_bytes);
        assert_memory_equal(a.data, b.data, a.size_bytes);
        assert_int_equal(ksv_filter_builder_fold(small, 2, NULL),
                         KSV_ERROR_ARGUMENT);
        assert_int_equal(ksv_filter_builder_fold(small, 0, NULL),
                         KSV_ERROR_ARGUMENT);
        byte_file_release(&a);
        byte_file_release(&b);
        ksv_filter_builder_close(large);
        ksv_filter_builder_close(small);
    }
}

/* Two halves that overlap, and all of it at once: the same bits. */
static void check_merge(ksv_filter_options o)
{
    ksv_filter_builder *first = test_open_builder(&o);
    ksv_filter_builder *second = test_open_builder(&o);
    ksv_filter_builder *all = test_open_builder(&o);
    test_add_range(first, 9, 0, 6000);
    test_add_range(second, 9, 4000, 10000);
    test_add_range(all, 9, 0, 10000);
    assert_int_equal(ksv_filter_builder_merge(first, second, NULL), KSV_OK);
    assert_true(count_range(first, 9, 0, 10000) == 10000);
    assert_true(ksv_filter_builder_count_bits(first) ==
                ksv_filter_builder_count_bits(all));
    assert_true(count_range(first, 10, 0, 50000) ==
                count_range(all, 10, 0, 50000));
    expect_near("keys of a union", (double)keys_of(first), 10000, 0.03);
    ksv_filter_builder_close(first);
    ksv_filter_builder_close(second);
    ksv_filter_builder_close(all);
}

static void test_merged_is_the_union(void **state)
{
    (void)state;
    check_merge(test_blocked_options(10000, 0.01));
    check_merge(test_classic_options(100000, 7, 10000));
}

/* Saved, loaded, asked through both ways of reading: the same answers. */
static void check_file(ksv_filter_options o, uint64_t seed)
{
    enum { KEYS = 5000, ASKED = 20000 };
    ksv_file_system fs;
    ksv_file *file;
    ksv_filter *reader;
    ksv_filter_builder *back;
    ksv_filter_builder *b = test_open_builder(&o);
    test_add_range(b, seed, 0, KEYS);
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    assert_int_equal(ksv_filter_builder_save(b, &fs, "f.ksf", NULL), KSV_OK);
    assert_int_equal(
        ksv_filter_builder_open_file(&fs, "f.ksf", NULL, &back, NULL), KSV_OK);
    assert_int_equal(fs.open_read(fs.ctx, "f.ksf", &file, NULL), KSV_OK);
    assert_int_equal(ksv_filter_open(file, NULL, &reader, NULL), KSV_OK);
    for (uint64_t i = 0; i < ASKED; i += BATCH) {
        uint64_t hashes[BATCH];
        bool wanted[BATCH];
        bool got[BATCH];
        bool read[BATCH];
        for (size_t k = 0; k < BATCH; k++)
            hashes[k] = test_hash(seed, i + k);
        ksv_filter_builder_may_contain_batch(b, hashes, BATCH, wanted);
        ksv_filter_builder_may_contain_batch(back, hashes, BATCH, got);
        assert_int_equal(
            ksv_filter_may_contain_batch(reader, hashes, BATCH, read, NULL),
            KSV_OK);
        assert_memory_equal(got, wanted, sizeof got);
        assert_memory_equal(read, wanted, sizeof read);
        bool single;
        assert_int_equal(
            ksv_filter_may_contain(reader, hashes[0], &single, NULL), KSV_OK);
        assert_true(single == wanted[0]);
    }
    assert_true(keys_of(back) == keys_of(b));
    ksv_filter_close(reader);
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
    ksv_filter_builder_close(back);
    ksv_filter_builder_close(b);
    memory_file_system_close(&fs);
}

static void test_files(void **state)
{
    (void)state;
    check_file(test_blocked_options(5000, 0.01), 1);
    check_file(test_blocked_options(500000, 0.01), 2);
    check_file(test_classic_options(50000, 7, 5000), 3);
    check_file(test_classic_options(5000001, 12, 5000), 4);
    check_file(test_classic_options(9, 2, 5000), 5);
}

/* As the specification of the format says it, past 2^32 bits as well. The
 * memory is never touched where no key is. */
static void test_bits_past_4g(void **state)
{
    (void)state;
    if (SHARE > 1)
        return;
    const uint64_t bits = UINT64_C(6000000007);
    ksv_filter_options o = test_classic_options(bits, 5, 1000);
    size_t bytes = (size_t)o.plan.blocks * 64;
    uint8_t *memory = calloc(bytes, 1);
    if (memory == NULL)
        return;
    ksv_filter_builder *b;
    assert_int_equal(ksv_filter_builder_open_over(&o, memory, bytes, true, 0,
                                                  NULL, &b, NULL),
                     KSV_OK);
    test_add_range(b, 8, 0, 1000);
    assert_true(keys_of(b) == 1000);
    assert_true(count_range(b, 8, 0, 1000) == 1000);
    assert_true(count_range(b, 9, 0, 100000) == 0);
    uint64_t high = 0;
    for (uint64_t i = UINT64_C(1) << 29; i < bytes; i += 1)
        high += memory[i] != 0;
    /* 2/7 of 5,000 bits lie beyond the first 2^32. */
    expect_near("bytes past 2^32 bits", (double)high, 5000 * 0.2842, 0.1);
    ksv_filter_builder_close(b);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_mean_rate_of_tiny_filters),
        cmocka_unit_test(test_against_a_set),
        cmocka_unit_test(test_folded_is_made_smaller),
        cmocka_unit_test(test_merged_is_the_union),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_bits_past_4g),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
