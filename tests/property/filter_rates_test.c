/* SPDX-License-Identifier: MIT */
/* Measured rates are those that were predicted, at several fills, of filters
 * that are blocked, folded, of the textbook's kind, merged, and read from
 * files. Each measurement has so many positives that a tenth is five times its
 * standard deviation; seeds are fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "support/filter_support.h"

/* ThreadSanitizer makes this some ten times slower, and has nothing to find. */
#ifdef __SANITIZE_THREAD__
#define IS_SLOW 1
#else
#define IS_SLOW 0
#endif

#define POSITIVES 2500
#define ALLOWED 0.1
#define BATCH 1000

/* Enough for the chance that shapes a single filter to even out. */
#define KEYS 200000

/* Of the keys that a filter is for. */
static const double FILLS[] = {0.7, 1, 1.4, 2};
#define FILL_COUNT (sizeof FILLS / sizeof FILLS[0])

static void fill_hashes(uint64_t hashes[BATCH], uint64_t seed, uint64_t first)
{
    for (size_t k = 0; k < BATCH; k++)
        hashes[k] = test_hash(seed, first + k);
}

/* How many absent keys have to be asked for. */
static uint64_t probes_for(double predicted)
{
    return ((uint64_t)(POSITIVES / predicted) / BATCH + 1) * BATCH;
}

static void expect_rate(const char *what, uint64_t keys, uint64_t positives,
                        uint64_t probes, double predicted)
{
    double rate = (double)positives / (double)probes;
    printf("%s, %llu keys: predicted %.4f %%, measured %+.1f %%\n", what,
           (unsigned long long)keys, 100 * predicted,
           100 * (rate / predicted - 1));
    if (rate < predicted * (1 - ALLOWED) || rate > predicted * (1 + ALLOWED))
        fail_msg("%s, %llu keys: %g instead of %g", what,
                 (unsigned long long)keys, rate, predicted);
}

/* Of a filter with `keys` keys, none of which is of `seed`. */
static void check_builder(const char *what, ksv_filter_builder *b,
                          uint64_t keys, uint64_t seed)
{
    uint64_t hashes[BATCH];
    bool answers[BATCH];
    ksv_filter_info info;
    ksv_filter_builder_get_info(b, &info);
    double predicted = ksv_filter_plan_expected_fpr(&info.options.plan, keys,
                                                    info.options.hash_bits);
    uint64_t probes = probes_for(predicted);
    uint64_t positives = 0;
    for (uint64_t i = 0; i < probes; i += BATCH) {
        fill_hashes(hashes, seed, i);
        ksv_filter_builder_may_contain_batch(b, hashes, BATCH, answers);
        for (size_t k = 0; k < BATCH; k++)
            positives += answers[k];
    }
    expect_rate(what, keys, positives, probes, predicted);
}

/* Keys come on top of each other, up to twice those it is for. */
static void check_fills(const char *what, ksv_filter_options o, uint64_t seed)
{
    ksv_filter_builder *b = test_open_builder(&o);
    uint64_t done = 0;
    for (size_t i = 0; i < FILL_COUNT; i++) {
        uint64_t keys = (uint64_t)(KEYS * FILLS[i]);
        test_add_range(b, seed, done, keys);
        done = keys;
        check_builder(what, b, keys, seed + 1);
    }
    ksv_filter_builder_close(b);
}

static void test_blocked(void **state)
{
    (void)state;
    check_fills("blocked 2 %", test_blocked_options(KEYS, 0.02), 10);
    check_fills("blocked 0.5 %", test_blocked_options(KEYS, 0.005), 20);
    if (!IS_SLOW)
        check_fills("blocked 0.1 %", test_blocked_options(KEYS, 0.001), 30);
}

static void test_classic(void **state)
{
    (void)state;
    check_fills("classic, k = 1", test_classic_options(KEYS * 20 + 3, 1, 0),
                40);
    check_fills("classic, k = 4", test_classic_options(KEYS * 8 + 1, 4, 0), 50);
    if (!IS_SLOW)
        check_fills("classic, k = 7",
                    test_classic_options(KEYS * 12 + 11, 7, 0), 60);
}

/* Made for many, folded to what the keys that came need. */
static void check_folded(uint64_t factor, uint64_t blocks, unsigned functions)
{
    ksv_filter_options o = test_blocked_options(1, 0.5);
    o.plan.blocks = blocks * factor;
    o.plan.hash_functions = functions;
    for (size_t i = 0; i < FILL_COUNT; i++) {
        uint64_t keys = (uint64_t)((double)blocks * 45 * FILLS[i]);
        ksv_filter_builder *b = test_open_builder(&o);
        char what[64];
        test_add_range(b, factor, 0, keys);
        assert_int_equal(ksv_filter_builder_fold(b, factor, NULL), KSV_OK);
        snprintf(what, sizeof what, "folded by %u", (unsigned)factor);
        check_builder(what, b, keys, 1000 + factor);
        ksv_filter_builder_close(b);
    }
}

static void test_folded(void **state)
{
    (void)state;
    check_folded(2, 4000, 6);
    check_folded(12, 4801, 7);
    if (!IS_SLOW)
        check_folded(77, 4400, 8);
}

/* Parts that overlap, by one merge after the other. */
static void check_merged(const char *what, ksv_filter_options o)
{
    enum { PARTS = 5, SHIFT = KEYS / 5, LENGTH = KEYS / 4 };
    ksv_filter_builder *all = test_open_builder(&o);
    for (uint64_t p = 0; p < PARTS; p++) {
        ksv_filter_builder *part = test_open_builder(&o);
        ksv_filter_info info;
        uint64_t keys = p * SHIFT + LENGTH;
        test_add_range(part, 70, p * SHIFT, keys);
        assert_int_equal(ksv_filter_builder_merge(all, part, NULL), KSV_OK);
        ksv_filter_builder_close(part);
        if (p > 1)
            check_builder(what, all, keys, 71);
        ksv_filter_builder_get_info(all, &info);
        assert_in_range(info.keys, keys * 98 / 100, keys * 102 / 100);
    }
    ksv_filter_builder_close(all);
}

static void test_merged(void **state)
{
    (void)state;
    check_merged("merged, blocked", test_blocked_options(KEYS, 0.01));
    check_merged("merged, classic", test_classic_options(KEYS * 10, 6, 0));
}

/* What a file says of its rate is what asking it shows. */
static void check_file(const char *what, ksv_filter_options o, uint64_t keys)
{
    byte_file f;
    ksv_filter *filter;
    ksv_filter_info info;
    uint64_t hashes[BATCH];
    bool answers[BATCH];
    uint64_t positives = 0;
    ksv_filter_builder *b = test_open_builder(&o);
    test_add_range(b, 80, 0, keys);
    byte_file_init(&f);
    assert_int_equal(ksv_filter_builder_write(b, keys, &f.base, NULL), KSV_OK);
    ksv_filter_builder_close(b);
    assert_int_equal(ksv_filter_open(&f.base, NULL, &filter, NULL), KSV_OK);
    ksv_filter_get_info(filter, &info);
    double predicted = ksv_filter_plan_expected_fpr(
        &info.options.plan, info.keys, info.options.hash_bits);
    uint64_t probes = probes_for(predicted);
    for (uint64_t i = 0; i < probes; i += BATCH) {
        fill_hashes(hashes, 81, i);
        assert_int_equal(
            ksv_filter_may_contain_batch(filter, hashes, BATCH, answers, NULL),
            KSV_OK);
        for (size_t k = 0; k < BATCH; k++)
            positives += answers[k];
    }
    expect_rate(what, keys, positives, probes, predicted);
    ksv_filter_close(filter);
    byte_file_release(&f);
}

static void test_files(void **state)
{
    (void)state;
    check_file("file, blocked", test_blocked_options(KEYS, 0.01), KEYS);
    check_file("file, blocked, half full", test_blocked_options(KEYS, 0.03),
               KEYS / 2);
    check_file("file, classic", test_classic_options(KEYS * 9 + 5, 5, 0), KEYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked), cmocka_unit_test(test_classic),
        cmocka_unit_test(test_folded),  cmocka_unit_test(test_merged),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
