/* SPDX-License-Identifier: MIT */
/* Opening and finding: cost, stops, faults, many threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "support/fault_allocator.h"
#include "support/random.h"
#include "support/table_fixture.h"

/* Uniform hashes, and one that fills some pages of its own. */
static void make_fixture(table_fixture *f, size_t count, size_t repeats)
{
    random_source random = {5};
    table_entry *entries = table_entries_alloc(count + repeats);
    for (size_t i = 0; i < count; i++)
        entries[i] = (table_entry){random_next(&random), random_next(&random)};
    for (size_t i = 0; i < repeats; i++)
        entries[count + i] = (table_entry){UINT64_C(0x55) << 40, i};
    table_fixture_init(f, table_options(44, 34, 1), entries, count + repeats);
}

static ksv_table *open_table(table_fixture *f)
{
    ksv_table *table;
    ksv_error error;
    if (ksv_table_open(&f->file.base, NULL, &table, &error) != KSV_OK)
        fail_msg("%s", error.text);
    return table;
}

static void test_cost(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 50000, 0);
    ksv_table *table = open_table(&f);
    assert_int_equal(f.file.reads, 2); /* header and footer */
    uint64_t pages;
    payload_list list = payload_list_of(&f, f.entries[777].hash);
    assert_int_equal(ksv_table_find(table, f.entries[777].hash,
                                    payload_list_visit, &list, &pages, NULL),
                     KSV_OK);
    assert_true(pages == 1 && list.visited == 1 && !list.wrong);
    assert_int_equal(f.file.reads, 4); /* fences and page */
    list = payload_list_of(&f, f.entries[30000].hash);
    assert_int_equal(ksv_table_find(table, f.entries[30000].hash,
                                    payload_list_visit, &list, NULL, NULL),
                     KSV_OK);
    assert_int_equal(f.file.reads, 5); /* page */
    ksv_table_close(table);
    table_fixture_release(&f);
}

static void test_a_visit_stops(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 100, 3000);
    ksv_table *table = open_table(&f);
    uint64_t hash = UINT64_C(0x55) << 40;
    for (size_t stop = 1; stop < 3000; stop += 100) {
        uint64_t pages;
        payload_list list = payload_list_of(&f, hash);
        list.stop_after = stop;
        assert_int_equal(list.expected_count, 3000);
        assert_int_equal(ksv_table_find(table, hash, payload_list_visit, &list,
                                        &pages, NULL),
                         KSV_OK);
        assert_false(list.wrong);
        assert_int_equal(list.visited, stop);
        assert_in_range(pages, 1, stop / 800 + 1);
    }
    ksv_table_close(table);
    table_fixture_release(&f);
}

static void test_failed_reads(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 2000, 3000);
    uint64_t hash = UINT64_C(0x55) << 40;
    bool done = false;
    for (long i = 0; !done; i++) {
        ksv_table *table = NULL;
        ksv_error error = {0};
        f.file.reads = 0;
        f.file.failing_read = i;
        payload_list list = payload_list_of(&f, hash);
        ksv_status status = ksv_table_open(&f.file.base, NULL, &table, &error);
        if (status == KSV_OK)
            status = ksv_table_find(table, hash, payload_list_visit, &list,
                                    NULL, &error);
        assert_false(list.wrong);
        done = f.file.reads <= i;
        if (done) {
            assert_int_equal(status, KSV_OK);
            assert_true(i >= 7);
        } else {
            assert_int_equal(status, KSV_ERROR_IO);
            assert_int_equal(error.os_errno, 5);
        }
        f.file.failing_read = -1;
        if (table != NULL && !done) { /* a later try is not harmed */
            list = payload_list_of(&f, hash);
            assert_int_equal(ksv_table_find(table, hash, payload_list_visit,
                                            &list, NULL, NULL),
                             KSV_OK);
            assert_int_equal(list.visited, 3000);
        }
        ksv_table_close(table);
    }
    table_fixture_release(&f);
}

static void test_failed_allocations(void **state)
{
    (void)state;
    table_fixture f;
    make_fixture(&f, 3000, 0);
    bool done = false;
    for (size_t i = 1; !done; i++) {
        fault_allocator faults;
        fault_allocator_init(&faults, i);
        ksv_table *table = NULL;
        ksv_table_iterator *iterator = NULL;
        payload_list list = payload_list_of(&f, f.entries[9].hash);
        ksv_status status =
            ksv_table_open(&f.file.base, &faults.allocator, &table, NULL);
        if (status == KSV_OK)
            status = ksv_table_find(table, f.entries[9].hash,
                                    payload_list_visit, &list, NULL, NULL);
        if (status == KSV_OK)
            status = ksv_table_iterator_open(table, &iterator, NULL);
        done = faults.calls < i;
        assert_int_equal(status, done ? KSV_OK : KSV_ERROR_MEMORY);
        ksv_table_iterator_close(iterator);
        ksv_table_close(table);
        assert_true(fault_allocator_is_clean(&faults));
        assert_true(!done || i == 5);
    }
    table_fixture_release(&f);
}

#define THREADS 4

typedef struct worker {
    const table_fixture *fixture;
    ksv_table *table;
    uint64_t seed;
    size_t wrong;
} worker;

static void *find_many(void *ctx)
{
    worker *w = ctx;
    random_source random = {w->seed};
    for (int i = 0; i < 3000; i++) {
        size_t at = (size_t)random_below(&random, w->fixture->count);
        uint64_t hash = w->fixture->entries[at].hash;
        if (i % 4 == 0)
            hash = random_next(&random);
        payload_list list = payload_list_of(w->fixture, hash);
        ksv_status status = ksv_table_find(w->table, hash, payload_list_visit,
                                           &list, NULL, NULL);
        if (status != KSV_OK || list.wrong ||
            list.visited != list.expected_count)
            w->wrong++;
    }
    return NULL;
}

/* All begin without fences, of which there are several pages. */
static void test_many_threads(void **state)
{
    (void)state;
    table_fixture f;
    random_source random = {1};
    table_entry *entries = table_entries_alloc(300000);
    for (size_t i = 0; i < 300000; i++)
        entries[i] = (table_entry){random_next(&random), random_next(&random)};
    table_fixture_init(&f, table_options(64, 57, 2), entries, 300000);
    for (uint64_t round = 0; round < 3; round++) {
        pthread_t threads[THREADS];
        worker workers[THREADS];
        ksv_table *table = open_table(&f);
        for (size_t i = 0; i < THREADS; i++) {
            workers[i] = (worker){&f, table, round * THREADS + i, 0};
            assert_int_equal(
                pthread_create(&threads[i], NULL, find_many, &workers[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(workers[i].wrong, 0);
        }
        ksv_table_close(table);
    }
    table_fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_a_visit_stops),
        cmocka_unit_test(test_failed_reads),
        cmocka_unit_test(test_failed_allocations),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
