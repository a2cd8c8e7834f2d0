/* SPDX-License-Identifier: MIT */
/* Tasks run once each, in any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread_pool.h"
#include "support/fault_allocator.h"

#define TASKS 500

typedef struct job {
    thread_task task;
    unsigned input;
    unsigned output;
    unsigned runs;
} job;

static void square(void *ctx)
{
    job *j = ctx;
    j->output = j->input * j->input;
    j->runs++;
}

static void run_with(unsigned threads)
{
    fault_allocator allocator;
    fault_allocator_init(&allocator, 0);
    static job jobs[TASKS];
    thread_pool *pool;
    assert_int_equal(
        thread_pool_open(threads, &allocator.allocator, &pool, NULL), KSV_OK);
    for (unsigned i = 0; i < TASKS; i++) {
        jobs[i] = (job){{square, &jobs[i], false, NULL}, i, 0, 0};
        thread_pool_submit(pool, &jobs[i].task);
    }
    /* Half of them are waited for, from the end; the others by closing. */
    for (unsigned i = TASKS; i-- > TASKS / 2;) {
        thread_pool_wait(pool, &jobs[i].task);
        assert_int_equal(jobs[i].output, i * i);
    }
    thread_pool_close(pool);
    for (unsigned i = 0; i < TASKS; i++) {
        assert_int_equal(jobs[i].runs, 1);
        assert_int_equal(jobs[i].output, i * i);
    }
    assert_true(fault_allocator_is_clean(&allocator));
}

static void test_all_tasks_run(void **state)
{
    (void)state;
    run_with(1);
    run_with(2);
    run_with(8);
}

static void test_task_again(void **state)
{
    (void)state;
    thread_pool *pool;
    assert_int_equal(thread_pool_open(2, NULL, &pool, NULL), KSV_OK);
    job j = {{square, &j, false, NULL}, 0, 0, 0};
    for (unsigned i = 0; i < 200; i++) {
        j.input = i;
        thread_pool_submit(pool, &j.task);
        thread_pool_wait(pool, &j.task);
        assert_int_equal(j.output, i * i);
    }
    assert_int_equal(j.runs, 200);
    thread_pool_close(pool);
    thread_pool_close(NULL);
}

static void test_no_memory(void **state)
{
    (void)state;
    fault_allocator allocator;
    fault_allocator_init(&allocator, 1);
    thread_pool *pool;
    assert_int_equal(thread_pool_open(2, &allocator.allocator, &pool, NULL),
                     KSV_ERROR_MEMORY);
    assert_null(pool);
    assert_true(fault_allocator_is_clean(&allocator));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_tasks_run),
        cmocka_unit_test(test_task_again),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
