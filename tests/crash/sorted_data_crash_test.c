/* SPDX-License-Identifier: MIT */
/* A data file in the order of its keys has grown in order, and the update is
 * stopped or fails at every single change that it makes to the disk: until it
 * is done no answer is wrong, and the next one sets all right. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/index_copy.h"
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

static void append(const crash_case *c, unsigned first, unsigned end)
{
    FILE *f = fopen(c->path, "ab");
    assert_non_null(f);
    for (unsigned i = first; i < end; i++)
        assert_int_equal(
            fprintf(f, "%010u %0*u\n", 2 * i, RECORD_BYTES - 12, i),
            RECORD_BYTES);
    assert_int_equal(fclose(f), 0);
}

static ksv_status build(const crash_case *c, bool is_update,
                        ksv_build_report *report, ksv_error *error)
{
    static const char *const key = "bytes:1-10";
    const char *path = c->path;
    ksv_format_options format;
    ksv_build_options options;
    ksv_format_options_init(&format);
    ksv_build_options_init(&options);
    format.format = KSV_FORMAT_LINES;
    format.keys = &key;
    format.key_count = 1;
    options.format = &format;
    options.organisation = KSV_ORGANISATION_SORTED;
    return is_update
               ? ksv_update(c->directory, NULL, 0, &options, report, error)
               : ksv_build(c->directory, &path, 1, &options, report, error);
}

static void make_case(crash_case *c)
{
    ksv_build_report report;
    temp_dir_make(&c->dir);
    temp_dir_path(&c->dir, "data.txt", c->path);
    temp_dir_path(&c->dir, "ix", c->directory);
    append(c, 0, BEFORE);
    assert_int_equal(build(c, false, &report, NULL), KSV_OK);
    assert_true(report.table_bytes < BEFORE / 10);
    index_copy_take(&c->before, c->directory);
    append(c, BEFORE, RECORDS);
}

static void end_case(crash_case *c)
{
    index_copy_release(&c->before);
    temp_dir_remove(&c->dir);
}

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_UNHARMED = 100 };

/* The exit code of an update that meets a fault; -1 when it was killed. */
static int update_with_fault(const crash_case *c, write_fault fault, long at)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        write_faults_arm(fault, at, ENOSPC);
        int result =
            build(c, true, NULL, NULL) == KSV_OK ? EXIT_DONE : EXIT_FAILED;
        _exit(write_faults_count() < at ? result + EXIT_UNHARMED : result);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return -1;
    }
    return WEXITSTATUS(status);
}

typedef struct answer {
    size_t records;
    uint64_t offset;
} answer;

static bool take_record(void *ctx, size_t number, const ksv_record *record)
{
    answer *a = ctx;
    (void)number;
    if (record == NULL)
        return true;
    a->records++;
    a->offset = record->offset;
    return true;
}

/* Each key gives its record, none when there is none, or "stale", which is no
 * answer once an update is done. */
static void check_answers(const crash_case *c, bool is_done)
{
    ksv_index *index;
    assert_int_equal(ksv_index_open(c->directory, NULL, &index, NULL), KSV_OK);
    for (unsigned number = 0; number < 2 * RECORDS + 10; number += 997) {
        char text[16];
        ksv_key key = {text, 10};
        answer got = {0, 0};
        snprintf(text, sizeof text, "%010u", number);
        ksv_status status =
            ksv_get(index, &key, 1, NULL, take_record, &got, NULL, NULL, NULL);
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
        int result = update_with_fault(&c, fault, at);
        check_answers(&c, result == EXIT_DONE);
        check_next_update(&c, entries);
        if (result >= EXIT_UNHARMED) {
            assert_int_equal(result, EXIT_UNHARMED);
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
