/* SPDX-License-Identifier: MIT */
/* A set of runs: what was added is found, merged, forgotten and removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dedup/run_set.h"
#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/random.h"

#define MEGABYTE ((uint64_t)1 << 20)
#define KEYS_A_RUN 3000
#define QUERIES 5000

/* A set in a file system of its own. */
typedef struct fixture {
    ksv_file_system fs;
    fault_allocator allocator;
    uint64_t next_number;
    run_set *set;
    recent_keys *keys;
} fixture;

static void open_fixture(fixture *f, const run_set_options *wanted)
{
    run_set_options options = *wanted;
    f->next_number = 1;
    fault_allocator_init(&f->allocator, 0);
    assert_int_equal(memory_file_system_open(NULL, &f->fs, NULL), KSV_OK);
    assert_int_equal(f->fs.make_directory(f->fs.ctx, "/d", NULL), KSV_OK);
    options.fs = &f->fs;
    options.next_number = &f->next_number;
    options.hasher.kind = KSV_HASH_XXH3;
    options.allocator = &f->allocator.allocator;
    if (options.memory_bytes == 0)
        options.memory_bytes = 4 * MEGABYTE;
    assert_int_equal(run_set_open(&options, &f->set, NULL), KSV_OK);
    assert_int_equal(
        recent_keys_open(64 * MEGABYTE, options.allocator, &f->keys, NULL),
        KSV_OK);
}

static void close_fixture(fixture *f)
{
    recent_keys_close(f->keys);
    run_set_close(f->set);
    assert_true(fault_allocator_is_clean(&f->allocator));
    memory_file_system_close(&f->fs);
}

static uint64_t hash_of(uint64_t number)
{
    random_source r = {number * 7919};
    return random_next(&r);
}

static recent_key *add_key(fixture *f, uint64_t number, int64_t time_ms)
{
    recent_key *entry;
    assert_int_equal(recent_keys_add(f->keys, hash_of(number), &number,
                                     sizeof number, time_ms, &entry, NULL),
                     KSV_OK);
    assert_non_null(entry);
    return entry;
}

/* A run of the keys from `first` on. */
static void add_run(fixture *f, uint64_t first, int64_t time_ms)
{
    for (uint64_t i = 0; i < KEYS_A_RUN; i++)
        (void)add_key(f, first + i, time_ms);
    assert_int_equal(run_set_add(f->set, f->keys, time_ms, NULL), KSV_OK);
    recent_keys_clear(f->keys);
}

typedef struct questions {
    uint64_t numbers[QUERIES];
    run_query queries[QUERIES];
} questions;

/* Asks for `count` keys from `first` on, all at once. */
static void ask(fixture *f, questions *q, uint64_t first, size_t count,
                int64_t after_ms)
{
    for (size_t i = 0; i < count; i++) {
        q->numbers[i] = first + i;
        q->queries[i] = (run_query){.hash = hash_of(first + i),
                                    .key = (const uint8_t *)&q->numbers[i],
                                    .key_bytes = sizeof q->numbers[i],
                                    .after_ms = after_ms};
    }
    assert_int_equal(run_set_query(f->set, q->queries, count, NULL), KSV_OK);
}

static size_t count_found(const questions *q, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += q->queries[i].found;
    return found;
}

static bool count_name(void *ctx, const char *name)
{
    size_t *count = ctx;
    (void)name;
    ++*count;
    return true;
}

static size_t count_files(fixture *f)
{
    size_t count = 0;
    assert_int_equal(f->fs.list(f->fs.ctx, "/d", count_name, &count, NULL),
                     KSV_OK);
    return count;
}

/* Keys of many runs in one query, over several waves of pages. */
static void test_found_in_any_run(void **state)
{
    (void)state;
    fixture f;
    questions *q = malloc(sizeof *q);
    open_fixture(&f, &(run_set_options){.directory = "/d"});
    ask(&f, q, 0, QUERIES, INT64_MIN);
    assert_int_equal(count_found(q, QUERIES), 0);
    for (uint64_t i = 0; i < 5; i++)
        add_run(&f, i * KEYS_A_RUN, 0);
    assert_int_equal(run_set_count(f.set), 5);
    for (uint64_t first = 0; first < 6 * KEYS_A_RUN; first += QUERIES) {
        ask(&f, q, first, QUERIES, INT64_MIN);
        for (size_t i = 0; i < QUERIES; i++)
            assert_int_equal(q->queries[i].found,
                             q->numbers[i] < 5 * KEYS_A_RUN);
    }
    close_fixture(&f);
    free(q);
}

/* Filters are probed first: absent keys cost few reads, and all filters
 * together keep to the memory, however many runs there are. */
static void test_filters_are_bounded(void **state)
{
    (void)state;
    fixture f;
    run_set_cost before;
    run_set_cost after;
    questions *q = malloc(sizeof *q);
    run_set_options options = {.directory = "/d", .memory_bytes = 150000};
    open_fixture(&f, &options);
    for (uint64_t i = 0; i < 30; i++) {
        add_run(&f, i * KEYS_A_RUN, 0);
        run_set_get_cost(f.set, &before);
        assert_true(before.memory_bytes <=
                    options.memory_bytes + 4096 * run_set_count(f.set));
        if (i > 10)
            continue;
        ask(&f, q, 1u << 30, QUERIES, INT64_MIN);
        run_set_get_cost(f.set, &after);
        assert_int_equal(count_found(q, QUERIES), 0);
        assert_true(after.pages_read - before.pages_read <= QUERIES / 2);
    }
    close_fixture(&f);
    free(q);
}

static void test_merged(void **state)
{
    (void)state;
    fixture f;
    run_set_cost cost;
    questions *q = malloc(sizeof *q);
    open_fixture(&f, &(run_set_options){.directory = "/d"});
    for (uint64_t i = 0; i < RUN_SET_FAN_OUT * RUN_SET_FAN_OUT; i++) {
        add_run(&f, i * KEYS_A_RUN, 0);
        assert_true(run_set_count(f.set) < 2 * RUN_SET_FAN_OUT);
    }
    assert_int_equal(run_set_count(f.set), 1);
    run_set_get_cost(f.set, &cost);
    assert_int_equal(cost.entries,
                     RUN_SET_FAN_OUT * RUN_SET_FAN_OUT * KEYS_A_RUN);
    assert_int_equal(cost.runs_written,
                     RUN_SET_FAN_OUT * RUN_SET_FAN_OUT + RUN_SET_FAN_OUT + 1);
    ask(&f, q, 40 * KEYS_A_RUN, QUERIES, INT64_MIN);
    assert_int_equal(count_found(q, QUERIES), QUERIES);
    close_fixture(&f);
    free(q);
}

/* With a window: forgotten keys are not found, the newest time of a key is, and
 * runs go when the last of their keys is forgotten. */
static void test_window(void **state)
{
    (void)state;
    fixture f;
    questions *q = malloc(sizeof *q);
    open_fixture(&f, &(run_set_options){
                         .directory = "/d", .window_ms = 800, .slice_ms = 100});
    add_run(&f, 0, 1000);
    add_run(&f, KEYS_A_RUN, 1050);
    add_run(&f, 0, 1500);
    ask(&f, q, 0, QUERIES, 1499);
    assert_int_equal(count_found(q, QUERIES), KEYS_A_RUN);
    assert_int_equal(q->queries[7].time_ms, 1500);
    ask(&f, q, 0, QUERIES, 1500);
    assert_int_equal(count_found(q, QUERIES), 0);
    ask(&f, q, 0, QUERIES, 999);
    assert_int_equal(count_found(q, QUERIES), QUERIES);
    assert_int_equal(q->queries[7].time_ms, 1500);
    assert_int_equal(q->queries[KEYS_A_RUN].time_ms, 1050);
    add_run(&f, 10 * KEYS_A_RUN, 1000 + 1700);
    assert_int_equal(run_set_count(f.set), 1);
    close_fixture(&f);
    free(q);
}

/* Runs of a slice become one when it is over, without what is forgotten. */
static void test_slice_is_closed(void **state)
{
    (void)state;
    fixture f;
    run_set_cost cost;
    open_fixture(&f, &(run_set_options){
                         .directory = "/d", .window_ms = 800, .slice_ms = 400});
    for (uint64_t i = 0; i < 5; i++)
        add_run(&f, i * KEYS_A_RUN, 800 + 50 * (int64_t)i);
    assert_int_equal(run_set_count(f.set), 5);
    add_run(&f, 5 * KEYS_A_RUN, 1200);
    assert_int_equal(run_set_count(f.set), 2);
    assert_int_equal(run_set_get(f.set, 0)->info.entries, 5 * KEYS_A_RUN);
    run_set_get_cost(f.set, &cost);
    assert_int_equal(cost.entries, 6 * KEYS_A_RUN);
    close_fixture(&f);
}

/* Keys that a run has with the same time are not written again; when no other
 * are left, there is no run. */
static void test_known_keys_are_left_out(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, &(run_set_options){.directory = "/d"});
    add_run(&f, 0, 0);
    add_key(&f, 1, 0)->on_disk = true;
    assert_int_equal(run_set_add(f.set, f.keys, 0, NULL), KSV_OK);
    assert_int_equal(run_set_count(f.set), 1);
    (void)add_key(&f, KEYS_A_RUN, 0);
    assert_int_equal(run_set_add(f.set, f.keys, 0, NULL), KSV_OK);
    assert_int_equal(run_set_count(f.set), 2);
    assert_int_equal(run_set_get(f.set, 1)->info.entries, 1);
    close_fixture(&f);
}

/* What is not kept has no name that could be left behind; what is kept can be
 * taken up by another set. */
static void test_files(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, &(run_set_options){.directory = "/d"});
    add_run(&f, 0, 0);
    assert_int_equal(count_files(&f), 0);
    close_fixture(&f);
    open_fixture(&f, &(run_set_options){.directory = "/d", .is_kept = true});
    questions *q = malloc(sizeof *q);
    add_run(&f, 0, 0);
    add_run(&f, KEYS_A_RUN, 0);
    assert_int_equal(count_files(&f), 2);
    assert_true(run_set_has_changed(f.set));
    run_set_accept(f.set);
    assert_false(run_set_has_changed(f.set));
    uint64_t numbers[2] = {run_set_get(f.set, 0)->number,
                           run_set_get(f.set, 1)->number};
    run_set *first = f.set;
    run_set_options options = {.fs = &f.fs,
                               .directory = "/d",
                               .is_kept = true,
                               .memory_bytes = MEGABYTE,
                               .next_number = &f.next_number,
                               .hasher = {.kind = KSV_HASH_XXH3},
                               .allocator = &f.allocator.allocator};
    assert_int_equal(run_set_open(&options, &f.set, NULL), KSV_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(run_set_adopt(f.set, numbers[i], NULL), KSV_OK);
    assert_false(run_set_has_changed(f.set));
    ask(&f, q, 0, QUERIES, INT64_MIN);
    assert_int_equal(count_found(q, QUERIES), QUERIES);
    assert_int_not_equal(run_set_adopt(f.set, 999, NULL), KSV_OK);
    run_set_close(first);
    close_fixture(&f);
    free(q);
}

static void test_nowhere(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, &(run_set_options){.directory = NULL});
    (void)add_key(&f, 1, 0);
    assert_int_equal(run_set_add(f.set, f.keys, 0, NULL), KSV_ERROR_ARGUMENT);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_in_any_run),
        cmocka_unit_test(test_filters_are_bounded),
        cmocka_unit_test(test_merged),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_slice_is_closed),
        cmocka_unit_test(test_known_keys_are_left_out),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
