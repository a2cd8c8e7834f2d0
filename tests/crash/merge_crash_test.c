/* SPDX-License-Identifier: MIT */
/* A build with a merge after it, killed or failing at any of its operations,
 * leaves the index without the new file or with it, and nothing else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/data_set.h"
#include "support/fault_file_system.h"
#include "support/index_check.h"
#include "support/index_copy.h"
#include "support/organisations.h"
#include "support/pace.h"

/* One more makes a full tier of them. */
#define OLD_FILES 15

typedef struct crash_case {
    data_set set;
    char directory[TEMP_DIR_PATH_BYTES];
    char kept[TEMP_DIR_PATH_BYTES];
    fault_file_system faults;
    size_t clean_files;
} crash_case;

static ksv_status build(crash_case *c, size_t first, size_t count,
                        const ksv_file_system *fs, ksv_build_report *report,
                        ksv_error *error)
{
    ksv_format_options format;
    data_set_format(&c->set, &format);
    ksv_build_options options;
    ksv_build_options_init(&options);
    options.format = &format;
    options.organisation = organisation_tried;
    options.file_system = fs;
    const char *files[DATA_SET_FILES];
    for (size_t i = 0; i < count; i++)
        files[i] = c->set.paths[first + i];
    return ksv_build(c->directory, files, count, &options, report, error);
}

/* The last file is new; with it the tier is full. */
static ksv_status add_last(crash_case *c, const ksv_file_system *fs,
                           ksv_build_report *report, ksv_error *error)
{
    return build(c, OLD_FILES, 1, fs, report, error);
}

static int add_in_child(void *ctx)
{
    crash_case *c = ctx;
    return add_last(c, &c->faults.fs, NULL, NULL) == KSV_OK ? 0 : 1;
}

static void shell(const char *form, const char *a, const char *b)
{
    char command[3 * TEMP_DIR_PATH_BYTES];
    snprintf(command, sizeof command, form, a, b, a);
    assert_int_equal(system(command), 0);
}

static void reset(crash_case *c)
{
    shell("rm -rf %s && cp -r %s %s", c->directory, c->kept);
    fault_file_system_reset(&c->faults);
}

static size_t segments_of(crash_case *c)
{
    ksv_index *index;
    ksv_index_info info;
    assert_int_equal(ksv_index_open(c->directory, NULL, &index, NULL), KSV_OK);
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    ksv_index_close(index);
    return info.segments;
}

static void make_case(crash_case *c)
{
    random_source random = {99};
    data_set_make(&c->set, KSV_FORMAT_CSV, 100);
    temp_dir_path(&c->set.dir, "ix", c->directory);
    temp_dir_path(&c->set.dir, "kept", c->kept);
    for (size_t i = 0; i <= OLD_FILES; i++)
        data_set_write(&c->set, i, 20, &random);
    /* In two runs: together they would be one segment. */
    assert_int_equal(build(c, 0, OLD_FILES, NULL, NULL, NULL), KSV_OK);
    assert_int_equal(segments_of(c), OLD_FILES);
    shell("cp -r %s %s", c->directory, c->kept);
    fault_file_system_open(&c->faults, ksv_posix_file_system());
    reset(c);
    assert_int_equal(add_last(c, NULL, NULL, NULL), KSV_OK);
    assert_int_equal(segments_of(c), 1);
    c->clean_files = index_copy_entries(c->directory);
}

static void end_case(crash_case *c)
{
    fault_file_system_close(&c->faults);
    data_set_remove(&c->set);
}

/* Only the files that the index says it has are asked for. */
static const char *check_old_or_new(crash_case *c)
{
    ksv_index *index;
    ksv_index_info info;
    ksv_error error;
    if (ksv_index_open(c->directory, NULL, &index, &error) != KSV_OK) {
        print_message("%s: %s\n", error.path, error.text);
        return "the index cannot be opened";
    }
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    size_t files = info.file_count;
    ksv_index_close(index);
    if (files == OLD_FILES + 1)
        return index_check_directory(c->directory, &c->set);
    if (files != OLD_FILES)
        return "neither the old index nor the new one";
    data_set old = c->set;
    memset(&old.model, 0, sizeof old.model);
    for (size_t i = 0; i < c->set.model.count; i++) {
        const key_entry *e = key_model_entry(&c->set.model, i);
        if (e->place.file < OLD_FILES)
            key_model_add(&old.model, e->key, e->key_bytes, e->place);
    }
    const char *what = index_check_directory(c->directory, &old);
    key_model_release(&old.model);
    return what;
}

static void check_recovery(crash_case *c, uint64_t at)
{
    unsigned long long number = (unsigned long long)at;
    const char *what = check_old_or_new(c);
    if (what != NULL)
        fail_msg("operation %llu: %s", number, what);
    ksv_error error;
    if (add_last(c, NULL, NULL, &error) != KSV_OK)
        fail_msg("operation %llu: the next build fails: %s: %s", number,
                 error.path, error.text);
    what = index_check_directory(c->directory, &c->set);
    if (what != NULL)
        fail_msg("operation %llu: after the next build: %s", number, what);
    if (segments_of(c) != 1)
        fail_msg("operation %llu: the merge was not made good", number);
    if (index_copy_entries(c->directory) != c->clean_files)
        fail_msg("operation %llu: files are left over", number);
}

static void test_killed(void **state)
{
    (void)state;
    crash_case c;
    make_case(&c);
    uint64_t at = 1;
    for (;; at += PACE_STEP) {
        reset(&c);
        c.faults.plan =
            (fault_plan){.operations = FAULT_CHANGES, .at = at, .kill = true};
        int code = fault_run_forked(add_in_child, &c);
        if (code == 0)
            break;
        assert_int_equal(code, FAULT_EXIT_CODE);
        check_recovery(&c, at);
    }
    assert_true(at > 40);
    end_case(&c);
}

/* What fails after the commit of the build says so, and the build stands. */
static void fail_everywhere(int os_errno, bool partial, bool and_later)
{
    crash_case c;
    make_case(&c);
    uint64_t at = 1;
    bool failed_after_commit = false;
    for (;; at += PACE_STEP) {
        reset(&c);
        c.faults.plan = (fault_plan){.operations = FAULT_CHANGES,
                                     .at = at,
                                     .os_errno = os_errno,
                                     .and_later = and_later,
                                     .partial_append = partial};
        ksv_error error;
        ksv_build_report report;
        ksv_status status = add_last(&c, &c.faults.fs, &report, &error);
        if (fault_file_system_count(&c.faults) < at) {
            assert_int_equal(status, KSV_OK);
            break;
        }
        failed_after_commit |= status != KSV_OK && report.committed;
        assert_int_equal(fault_file_system_open_files(&c.faults), 0);
        check_recovery(&c, at);
    }
    assert_true(at > 40);
    assert_true(failed_after_commit);
    end_case(&c);
}

static void test_read_write_errors(void **state)
{
    (void)state;
    fail_everywhere(EIO, false, false);
}

static void test_disk_full(void **state)
{
    (void)state;
    fail_everywhere(ENOSPC, true, true);
}

/* Reads of the tables that are merged. */
static void test_errors_of_reading(void **state)
{
    (void)state;
    crash_case c;
    make_case(&c);
    uint64_t at = 1;
    for (;; at += 7) {
        reset(&c);
        c.faults.plan = (fault_plan){.operations = FAULT_READ | FAULT_OPEN_READ,
                                     .at = at,
                                     .os_errno = EIO};
        ksv_error error;
        ksv_status status = add_last(&c, &c.faults.fs, NULL, &error);
        if (fault_file_system_count(&c.faults) < at) {
            assert_int_equal(status, KSV_OK);
            break;
        }
        assert_int_equal(fault_file_system_open_files(&c.faults), 0);
        check_recovery(&c, at);
    }
    assert_true(at > 100);
    end_case(&c);
}

/* After a commit all that it names is on the disk, whatever is lost. */
static void test_power_is_lost(void **state)
{
    (void)state;
    crash_case c;
    make_case(&c);
    char keep[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&c.set.dir, "lost", keep);
    for (uint64_t at = 1;; at += PACE_STEP) {
        shell("rm -rf %s && mkdir %s", keep, keep);
        reset(&c);
        fault_file_system_track(&c.faults, keep);
        c.faults.plan =
            (fault_plan){.operations = FAULT_CHANGES, .at = at, .kill = true};
        int code = fault_run_forked(add_in_child, &c);
        fault_file_system_lose_power(&c.faults);
        const char *what = check_old_or_new(&c);
        if (what != NULL)
            fail_msg("operation %llu: %s", (unsigned long long)at, what);
        if (code == 0)
            break;
        check_recovery(&c, at);
    }
    end_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_read_write_errors),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_errors_of_reading),
        cmocka_unit_test(test_power_is_lost),
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
