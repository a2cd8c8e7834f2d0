/* SPDX-License-Identifier: MIT */
/* Threads fill filters of their own, which are merged, and ask one together. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "support/filter_support.h"

#define THREADS 4
#define KEYS 20000 /* of each thread */

typedef struct job {
    ksv_filter_builder *own;
    const ksv_filter_builder *shared;
    uint64_t first;
    size_t lost;
} job;

static void *fill(void *arg)
{
    job *j = arg;
    for (uint64_t i = 0; i < KEYS; i++)
        ksv_filter_builder_add(j->own, test_hash(1, j->first + i));
    return NULL;
}

/* All threads ask for all keys, some of which still wait to be added. */
static void *ask(void *arg)
{
    job *j = arg;
    for (uint64_t i = 0; i < (uint64_t)THREADS * KEYS; i += 10) {
        uint64_t hashes[10];
        bool answers[10];
        for (uint64_t k = 0; k < 10; k++)
            hashes[k] = test_hash(1, i + k);
        ksv_filter_builder_may_contain_batch(j->shared, hashes, 10, answers);
        for (size_t k = 0; k < 10; k++)
            j->lost += !answers[k];
        j->lost += !ksv_filter_builder_may_contain(j->shared, hashes[3]);
    }
    return NULL;
}

static void run_all(void *(*work)(void *), job jobs[THREADS])
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void check(const ksv_filter_options *o)
{
    job jobs[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (job){.first = (uint64_t)i * KEYS};
        assert_int_equal(ksv_filter_builder_open(o, NULL, &jobs[i].own, NULL),
                         KSV_OK);
    }
    run_all(fill, jobs);
    for (unsigned i = 1; i < THREADS; i++) {
        assert_int_equal(
            ksv_filter_builder_merge(jobs[0].own, jobs[i].own, NULL), KSV_OK);
    }
    ksv_filter_builder_add(jobs[0].own, test_hash(1, 5));
    for (unsigned i = 0; i < THREADS; i++)
        jobs[i].shared = jobs[0].own;
    run_all(ask, jobs);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(jobs[i].lost, 0);
        ksv_filter_builder_close(jobs[i].own);
    }
}

static void test_threads(void **state)
{
    (void)state;
    ksv_filter_options o;
    ksv_filter_options_init(&o);
    assert_int_equal(
        ksv_filter_make_plan((uint64_t)THREADS * KEYS, 0.01, 64, &o.plan, NULL),
        KSV_OK);
    check(&o);
    assert_int_equal(ksv_filter_make_classic_plan(10 * (uint64_t)THREADS * KEYS,
                                                  7, 1, &o.plan, NULL),
                     KSV_OK);
    check(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
