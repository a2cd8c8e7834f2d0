/* SPDX-License-Identifier: MIT */
/* A data file in the order of its keys has grown in order, and the update is
 * stopped or fails at every single change that it makes to the disk: until it
 * is done no answer is wrong, and the next one sets all right. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/index_copy.h"
#include "support/ordered_lines.h"
#include "support/pace.h"
#include "support/temp_dir.h"
#include "support/write_faults.h"

enum { RECORD_BYTES = 100, BEFORE = 15000, RECORDS = BEFORE + 11000 };

typedef struct crash_case {
    temp_dir dir;
    char path[TEMP_DIR_PATH_BYTES];
    char directory[TEMP_DIR_PATH_BYTES];
    index_copy before;
} crash_case;

static ksv_status build(const crash_case *c, bool is_update,
                        ksv_build_report *report, ksv_error *error)
{
    return ordered_lines_build(c->directory, c->path, is_update, report, error);
}

static void make_case(crash_case *c)
{
    ksv_build_report report;
    temp_dir_make(&c->dir);
    temp_dir_path(&c->dir, "data.txt", c->path);
    temp_dir_path(&c->dir, "ix", c->directory);
    ordered_lines_append(c->path, 0, BEFORE, RECORD_BYTES);
    assert_int_equal(build(c, false, &report, NULL), KSV_OK);
    assert_true(report.table_bytes < BEFORE / 10);
    index_copy_take(&c->before, c->directory);
    ordered_lines_append(c->path, BEFORE, RECORDS, RECORD_BYTES);
}

static void end_case(crash_case *c)
{
    index_copy_release(&c->before);
    temp_dir_remove(&c->dir);
}

enum { EXIT_DONE = 0, EXIT_FAILED = 1 };

/* In a process that meets a fault. */
static int try_to_update(void *ctx)
{
    return build(ctx, true, NULL, NULL) == KSV_OK ? EXIT_DONE : EXIT_FAILED;
}

/* Each key gives its record, none when there is none, or "stale", which is no
 * answer once an update is done. */
static void check_answers(const crash_case *c, bool is_done)
{
    ksv_index *index;
    assert_int_equal(ksv_index_open(c->directory, NULL, &index, NULL), KSV_OK);
    for (unsigned number = 0; number < 2 * RECORDS + 10; number += 997) {
        ordered_answer got;
        ksv_status status = ordered_lines_ask(index, number, &got);
        if (status == KSV_ERROR_STALE && !is_done)
            continue;
        assert_int_equal(status, KSV_OK);
        bool is_there = number % 2 == 0 && number < 2 * RECORDS;
        assert_int_equal(got.records, is_there);
        if (is_there)
            assert_int_equal(got.offset, number / 2 * RECORD_BYTES);
    }
    ksv_index_close(index);
}

static void check_next_update(const crash_case *c, size_t entries)
{
    ksv_build_report report;
    ksv_error error;
    if (build(c, true, &report, &error) != KSV_OK)
        fail_msg("the next update: %s: %s", error.path, error.text);
    assert_true(report.table_bytes < RECORDS / 10);
    check_answers(c, true);
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    assert_int_equal(ksv_verify(c->directory, &options, NULL, NULL), KSV_OK);
    assert_int_equal(index_copy_entries(c->directory), entries);
}

static void stop_everywhere(write_fault fault)
{
    crash_case c;
    make_case(&c);
    assert_int_equal(build(&c, true, NULL, NULL), KSV_OK);
    size_t entries = index_copy_entries(c.directory);
    for (long at = 1;; at += PACE_STEP) {
        index_copy_restore(&c.before, c.directory);
        int result = write_faults_run(fault, at, ENOSPC, try_to_update, &c);
        check_answers(&c, result == EXIT_DONE);
        check_next_update(&c, entries);
        if (result >= WRITE_FAULTS_UNHARMED) {
            assert_int_equal(result, WRITE_FAULTS_UNHARMED);
            assert_true(at > 5);
            break;
        }
    }
    end_case(&c);
}

static void test_killed(void **state)
{
    (void)state;
    stop_everywhere(WRITE_FAULT_KILL);
}

static void test_failing(void **state)
{
    (void)state;
    stop_everywhere(WRITE_FAULT_FAIL_ONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_failing),
    };
    index_copy_prefer_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
