/* SPDX-License-Identifier: MIT */
/* The measured false-positive rate is the one asked for, and no key is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "support/filter_support.h"

/* ThreadSanitizer makes this some ten times slower, and has nothing to find. */
#ifdef __SANITIZE_THREAD__
#define PROBES_SHARE 10
#else
#define PROBES_SHARE 1
#endif

#define KEYS 1000000
#define BATCH 1024

/* Opens the filter of a builder that holds test_hash(seed, 0..keys-1). */
static ksv_filter *make_filter(byte_file *f, uint64_t seed, uint64_t keys,
                               double fpr, unsigned hash_bits)
{
    ksv_filter_options o = test_filter_options(keys, fpr, hash_bits, seed);
    ksv_filter_builder *b;
    assert_int_equal(ksv_filter_builder_open(&o, NULL, &b, NULL), KSV_OK);
    for (uint64_t i = 0; i < keys; i++)
        ksv_filter_builder_add(b, test_hash(seed, i));
    byte_file_init(f);
    assert_int_equal(ksv_filter_builder_write(b, keys, &f->base, NULL), KSV_OK);
    ksv_filter_builder_close(b);
    ksv_filter *filter;
    assert_int_equal(ksv_filter_open(&f->base, NULL, &filter, NULL), KSV_OK);
    return filter;
}

/* How many of test_hash(seed, 0..count-1) the filter says it may contain. */
static uint64_t count_positives(ksv_filter *filter, uint64_t seed,
                                uint64_t count)
{
    uint64_t positives = 0;
    for (uint64_t i = 0; i < count; i += BATCH) {
        uint64_t hashes[BATCH];
        bool answers[BATCH];
        size_t n = count - i < BATCH ? (size_t)(count - i) : BATCH;
        for (size_t k = 0; k < n; k++)
            hashes[k] = test_hash(seed, i + k);
        assert_int_equal(
            ksv_filter_may_contain_batch(filter, hashes, n, answers, NULL),
            KSV_OK);
        for (size_t k = 0; k < n; k++)
            positives += answers[k];
    }
    return positives;
}

static void measure(double fpr, unsigned hash_bits, uint64_t probes)
{
    byte_file f;
    uint64_t seed = (uint64_t)(1 / fpr) + hash_bits;
    probes /= PROBES_SHARE;
    ksv_filter *filter = make_filter(&f, seed, KEYS, fpr, hash_bits);
    uint64_t positives = count_positives(filter, seed + 500000, probes);
    double rate = (double)positives / (double)probes;
    printf("asked %.4f %%, %u bits: measured %.5f %% (%+.1f %%)\n", 100 * fpr,
           hash_bits, 100 * rate, 100 * (rate / fpr - 1));
    double allowed = PROBES_SHARE == 1 ? 0.1 : 0.3;
    if (rate < (1 - allowed) * fpr || rate > (1 + allowed) * fpr)
        fail_msg("rate %g instead of %g", rate, fpr);
    ksv_filter_close(filter);
    byte_file_release(&f);
}

static void test_measured_rates(void **state)
{
    (void)state;
    static const unsigned widths[] = {38, 43, 48, 64};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        measure(0.02, widths[i], 200000);
        measure(0.005, widths[i], 500000);
        measure(0.001, widths[i], 2000000);
    }
    /* 2000 positives and more: standard deviations of 2.2 % at most. */
    measure(0.0001, 38, 20000000);
    measure(0.0001, 64, 20000000);
}

/* The collisions of hashes as narrow as that are a third of the rate. */
static void test_measured_rate_with_collisions(void **state)
{
    (void)state;
    measure(0.0007, 32, 3000000);
}

static void test_no_key_is_lost(void **state)
{
    (void)state;
    byte_file f;
    enum { MANY = 10000000 / PROBES_SHARE };
    ksv_filter *filter = make_filter(&f, 77, MANY, 0.005, 45);
    assert_true(8.0 * (double)f.size_bytes / MANY < 11.6);
    assert_true(count_positives(filter, 77, MANY) == MANY);
    ksv_filter_close(filter);
    byte_file_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured_rates),
        cmocka_unit_test(test_measured_rate_with_collisions),
        cmocka_unit_test(test_no_key_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
