/* SPDX-License-Identifier: MIT */
/* Random filters against the set of keys that they were made from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "support/filter_support.h"

#define ROUNDS 200

typedef struct trial {
    uint64_t seed;
    size_t count;
    unsigned hash_bits;
    uint64_t *hashes;
    ksv_filter_options options;
} trial;

/* Small and large counts, rates from 1e-9 to 0.9, plans for more or fewer keys
 * than come. */
static trial make_trial(uint64_t seed)
{
    trial t = {.seed = seed};
    uint64_t limit = seed % 4 == 0 ? 10 : 5000;
    t.count = (size_t)(test_hash(seed, 1) % (limit + 1));
    t.hash_bits = 32 + (unsigned)(test_hash(seed, 2) % 33);
    double fpr = 0.9;
    for (uint64_t i = test_hash(seed, 3) % 30; i > 0; i--)
        fpr /= 2;
    uint64_t planned = t.count;
    if (seed % 5 == 1)
        planned /= 3;
    if (seed % 5 == 2)
        planned = planned * 7 + 1;
    t.hashes = test_sorted_hashes(seed, t.count, t.hash_bits);
    t.options = test_filter_options(planned, fpr, t.hash_bits, seed);
    return t;
}

static void expect(const trial *t, bool right, const char *what)
{
    if (!right)
        fail_msg("seed %llu, %zu keys, %u bits: %s",
                 (unsigned long long)t->seed, t->count, t->hash_bits, what);
}

static size_t count_distinct(const trial *t)
{
    size_t distinct = 0;
    for (size_t i = 0; i < t->count; i++)
        distinct += i == 0 || t->hashes[i] != t->hashes[i - 1];
    return distinct;
}

static void check_answers(const trial *t, byte_file *f)
{
    ksv_filter *filter;
    expect(t, ksv_filter_open(&f->base, NULL, &filter, NULL) == KSV_OK, "open");
    ksv_filter_info info;
    ksv_filter_get_info(filter, &info);
    expect(t, info.keys == count_distinct(t), "number of keys");
    for (size_t i = 0; i < t->count; i++) {
        bool answer = false;
        /* The bits beyond hash_bits play no part. */
        uint64_t hash = t->hashes[i];
        if (t->hash_bits < 64)
            hash |= test_hash(t->seed, i) >> t->hash_bits;
        expect(t,
               ksv_filter_may_contain(filter, hash, &answer, NULL) == KSV_OK &&
                   answer,
               "a key is lost");
    }
    bool *answers = calloc(t->count + 1, sizeof *answers);
    expect(t,
           ksv_filter_may_contain_batch(filter, t->hashes, t->count, answers,
                                        NULL) == KSV_OK,
           "batch");
    for (size_t i = 0; i < t->count; i++)
        expect(t, answers[i], "a key is lost in a batch");
    free(answers);
    ksv_filter_close(filter);
}

static void check_builder(const trial *t, const byte_file *written)
{
    ksv_filter_builder *b;
    expect(t, ksv_filter_builder_open(&t->options, NULL, &b, NULL) == KSV_OK,
           "builder");
    for (size_t i = 0; i < t->count; i++)
        ksv_filter_builder_add(b, test_hash(t->seed, i));
    for (size_t i = 0; i < t->count; i++)
        expect(t, ksv_filter_builder_may_contain(b, test_hash(t->seed, i)),
               "a key is lost in the builder");
    byte_file f;
    byte_file_init(&f);
    expect(t,
           ksv_filter_builder_write(b, count_distinct(t), &f.base, NULL) ==
               KSV_OK,
           "write");
    expect(t,
           f.size_bytes == written->size_bytes &&
               memcmp(f.data, written->data, f.size_bytes) == 0,
           "writer and builder differ");
    byte_file_release(&f);
    ksv_filter_builder_close(b);
}

static void test_random_filters(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        trial t = make_trial(seed);
        byte_file f;
        test_write_filter(&f, &t.options, t.hashes, t.count);
        expect(&t, f.size_bytes == t.options.plan.file_bytes, "file size");
        check_answers(&t, &f);
        check_builder(&t, &f);
        byte_file_release(&f);
        free(t.hashes);
    }
}

/* The plan says what rate to expect, also of filters of few blocks. */
static void test_rates_of_small_filters(void **state)
{
    (void)state;
    static const uint64_t counts[] = {20, 44, 100, 300};
    enum { FILTERS = 300, PROBES = 4000 };
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        ksv_filter_options o = test_filter_options(counts[c], 0.05, 48, c);
        uint64_t yes = 0;
        for (uint64_t n = 0; n < FILTERS; n++) {
            ksv_filter_builder *b;
            assert_int_equal(ksv_filter_builder_open(&o, NULL, &b, NULL),
                             KSV_OK);
            for (uint64_t i = 0; i < counts[c]; i++)
                ksv_filter_builder_add(b, test_hash(1000 * c + n, i));
            for (uint64_t i = 0; i < PROBES; i++)
                yes += ksv_filter_builder_may_contain(
                    b, test_hash(5000000 + 1000 * c + n, i));
            ksv_filter_builder_close(b);
        }
        double rate = (double)yes / (FILTERS * PROBES);
        double wanted = o.plan.fpr;
        /* Five standard deviations of counting, and a little for filters. */
        double hits = wanted * FILTERS * PROBES;
        double allowed = 0.05 * wanted + (hits < 100 ? 1 : 0) * 20 / hits;
        if (rate < wanted - allowed || rate > wanted + allowed)
            fail_msg("%llu keys: rate %g instead of %g",
                     (unsigned long long)counts[c], rate, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_filters),
        cmocka_unit_test(test_rates_of_small_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
