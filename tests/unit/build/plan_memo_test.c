/* SPDX-License-Identifier: MIT */
/* Plans that are remembered are those that would be made. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build/plan_memo.h"

static const catalog_parameters PARAMETERS = {.fpr = 0.005, .hash_bits = 40};

static bool is_right(plan_memo *memo, const catalog_parameters *parameters,
                     uint64_t keys)
{
    ksv_filter_plan made = {.blocks = 0};
    ksv_filter_plan wanted = {.blocks = 0};
    ksv_status status = plan_memo_make(memo, parameters, keys, &made, NULL);
    if (status != ksv_filter_make_plan(keys, parameters->fpr,
                                       parameters->hash_bits, &wanted, NULL))
        return false;
    return made.blocks == wanted.blocks && made.bits == wanted.bits &&
           made.hash_functions == wanted.hash_functions &&
           made.file_bytes == wanted.file_bytes && made.kind == wanted.kind &&
           made.fpr >= wanted.fpr && made.fpr <= wanted.fpr;
}

/* Numbers that share a slot take turns; the second of a pair is remembered. */
static void test_as_made_anew(void **state)
{
    (void)state;
    static plan_memo memo;
    assert_int_equal(plan_memo_init(&memo, NULL), KSV_OK);
    static const uint64_t KEYS[] = {1,   2,    255,  256,  257,    1000,
                                    511, 1024, 4095, 4096, 262143, 262144};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        uint64_t n = KEYS[i];
        const uint64_t row[] = {n, n, n + 256, n, n + 512, n + 256, n + 256};
        for (size_t j = 0; j < sizeof row / sizeof row[0]; j++)
            if (!is_right(&memo, &PARAMETERS, row[j]))
                fail_msg("%llu keys", (unsigned long long)row[j]);
    }
    plan_memo_release(&memo);
}

/* A slot that was never used is not a plan for no keys, and no keys do not take
 * the place of any. */
static void test_no_keys(void **state)
{
    (void)state;
    static plan_memo memo;
    assert_int_equal(plan_memo_init(&memo, NULL), KSV_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(is_right(&memo, &PARAMETERS, 0));
        assert_true(is_right(&memo, &PARAMETERS, 256));
        assert_true(is_right(&memo, &PARAMETERS, 0));
    }
    plan_memo_release(&memo);
}

/* What cannot be planned is not remembered as if it could. */
static void test_refused(void **state)
{
    (void)state;
    static plan_memo memo;
    static const catalog_parameters impossible = {.fpr = 2, .hash_bits = 40};
    assert_int_equal(plan_memo_init(&memo, NULL), KSV_OK);
    ksv_filter_plan plan;
    for (int i = 0; i < 2; i++)
        assert_int_equal(plan_memo_make(&memo, &impossible, 77, &plan, NULL),
                         KSV_ERROR_ARGUMENT);
    assert_true(is_right(&memo, &PARAMETERS, 77));
    plan_memo_release(&memo);
}

typedef struct sharer {
    pthread_t thread;
    plan_memo *memo;
    uint64_t first;
    bool is_right;
} sharer;

static void *share(void *ctx)
{
    sharer *s = ctx;
    s->is_right = true;
    for (uint64_t i = 0; i < 60; i++)
        s->is_right = s->is_right && is_right(s->memo, &PARAMETERS,
                                              1 + (s->first + i) % 3 * 256);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    static plan_memo memo;
    sharer sharers[4];
    assert_int_equal(plan_memo_init(&memo, NULL), KSV_OK);
    for (uint64_t i = 0; i < 4; i++) {
        sharers[i] = (sharer){.memo = &memo, .first = i};
        assert_int_equal(
            pthread_create(&sharers[i].thread, NULL, share, &sharers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(sharers[i].thread, NULL);
        assert_true(sharers[i].is_right);
    }
    plan_memo_release(&memo);
}

static void test_release_of_nothing(void **state)
{
    (void)state;
    static plan_memo memo;
    plan_memo_release(&memo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_made_anew),
        cmocka_unit_test(test_no_keys),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_release_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
