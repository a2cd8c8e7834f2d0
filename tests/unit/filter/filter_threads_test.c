/* SPDX-License-Identifier: MIT */
/* Many threads share one open filter. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <keysieve/filter.h>

#include "base/mutex.h"
#include "support/filter_support.h"

#define THREADS 4
#define KEYS 200000

typedef struct job {
    ksv_filter *filter;
    const uint64_t *hashes;
    unsigned number;
    size_t failures;
} job;

/* Each thread takes the keys in an order of its own: one by one, in batches,
 * and the last one loads the filter meanwhile. */
static void *run(void *arg)
{
    job *j = arg;
    enum { BATCH = 50 };
    for (size_t i = 0; i < KEYS; i += BATCH) {
        uint64_t hashes[BATCH];
        bool answers[BATCH] = {false};
        for (size_t k = 0; k < BATCH; k++)
            hashes[k] = j->hashes[(i + k) * (7919 + 2 * j->number) % KEYS];
        if (j->number % 2 == 0) {
            for (size_t k = 0; k < BATCH; k++)
                j->failures +=
                    ksv_filter_may_contain(j->filter, hashes[k], &answers[k],
                                           NULL) != KSV_OK;
        } else {
            j->failures +=
                ksv_filter_may_contain_batch(j->filter, hashes, BATCH, answers,
                                             NULL) != KSV_OK;
        }
        for (size_t k = 0; k < BATCH; k++)
            j->failures += !answers[k];
        if (j->number == THREADS - 1 && i == KEYS / 4)
            j->failures += ksv_filter_load(j->filter, NULL) != KSV_OK;
    }
    return NULL;
}

static void test_threads_share_a_filter(void **state)
{
    (void)state;
    uint64_t *hashes = test_sorted_hashes(8, KEYS, 64);
    ksv_filter_options o = test_filter_options(KEYS, 0.0005, 64, 8);
    byte_file f;
    test_write_filter(&f, &o, hashes, KEYS);
    for (int round = 0; round < 5; round++) {
        ksv_filter *filter;
        assert_int_equal(ksv_filter_open(&f.base, NULL, &filter, NULL), KSV_OK);
        pthread_t threads[THREADS];
        job jobs[THREADS];
        for (unsigned i = 0; i < THREADS; i++) {
            jobs[i] = (job){filter, hashes, i, 0};
            assert_int_equal(pthread_create(&threads[i], NULL, run, &jobs[i]),
                             0);
        }
        for (unsigned i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(jobs[i].failures, 0);
        }
        ksv_filter_close(filter);
    }
    byte_file_release(&f);
    free(hashes);
}

typedef struct counter {
    mutex lock;
    unsigned value;
} counter;

static void *count(void *arg)
{
    counter *c = arg;
    for (int i = 0; i < 20000; i++) {
        mutex_lock(&c->lock);
        c->value++;
        mutex_unlock(&c->lock);
    }
    return NULL;
}

static void test_mutex_excludes(void **state)
{
    (void)state;
    counter c = {.value = 0};
    assert_int_equal(mutex_init(&c.lock, NULL), KSV_OK);
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, &c), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(c.value, THREADS * 20000);
    mutex_release(&c.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_share_a_filter),
        cmocka_unit_test(test_mutex_excludes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
