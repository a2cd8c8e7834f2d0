/* SPDX-License-Identifier: MIT */
/* A build that is killed, fails or loses power at any of its operations leaves
 * the old index or the new one, and nothing else. */
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

typedef struct crash_case {
    data_set set;
    char directory[TEMP_DIR_PATH_BYTES];
    char kept[TEMP_DIR_PATH_BYTES];
    fault_file_system faults;
} crash_case;

static ksv_status run_build(crash_case *c, const ksv_file_system *fs,
                            ksv_error *error)
{
    ksv_format_options format;
    data_set_format(&c->set, &format);
    ksv_build_options options;
    ksv_build_options_init(&options);
    options.format = &format;
    options.organisation = organisation_tried;
    options.file_system = fs;
    const char *files[] = {c->set.paths[0], c->set.paths[1]};
    return ksv_build(c->directory, files, 2, &options, NULL, error);
}

static int build_in_child(void *ctx)
{
    crash_case *c = ctx;
    return run_build(c, &c->faults.fs, NULL) == KSV_OK ? 0 : 1;
}

static void shell(const char *form, const char *a, const char *b)
{
    char command[3 * TEMP_DIR_PATH_BYTES];
    snprintf(command, sizeof command, form, a, b, a);
    assert_int_equal(system(command), 0);
}

/* Two files; with an old index the second is new to it. */
static void make_case(crash_case *c, bool old_index)
{
    random_source random = {77};
    data_set_make(&c->set, KSV_FORMAT_CSV, 200);
    temp_dir_path(&c->set.dir, "ix", c->directory);
    temp_dir_path(&c->set.dir, "kept", c->kept);
    data_set_write(&c->set, 0, 300, &random);
    data_set_write(&c->set, 1, 300, &random);
    if (old_index) {
        ksv_format_options format;
        data_set_format(&c->set, &format);
        ksv_build_options options;
        ksv_build_options_init(&options);
        options.format = &format;
        options.organisation = organisation_tried;
        const char *files[] = {c->set.paths[0]};
        assert_int_equal(
            ksv_build(c->directory, files, 1, &options, NULL, NULL), KSV_OK);
        shell("cp -r %s %s", c->directory, c->kept);
    }
    fault_file_system_open(&c->faults, ksv_posix_file_system());
}

static void reset(crash_case *c, bool old_index)
{
    shell(old_index ? "rm -rf %s && cp -r %s %s" : "rm -rf %s", c->directory,
          c->kept);
    fault_file_system_reset(&c->faults);
}

/* Old: the keys of the first file alone. New: those of both. */
static const char *check_old_or_new(crash_case *c, bool old_index)
{
    ksv_index *index;
    ksv_error error;
    ksv_status status = ksv_index_open(c->directory, NULL, &index, &error);
    if (status == KSV_ERROR_NO_INDEX)
        return old_index ? "the old index is gone" : NULL;
    if (status != KSV_OK) {
        print_message("%s: %s\n", error.path, error.text);
        return "the index cannot be opened";
    }
    ksv_index_info info;
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    size_t files = info.file_count;
    ksv_index_close(index);
    if (files == 2)
        return index_check_directory(c->directory, &c->set);
    if (!old_index || files != 1)
        return "neither the old index nor the new one";
    data_set first = c->set;
    memset(&first.model, 0, sizeof first.model);
    for (size_t i = 0; i < c->set.model.count; i++) {
        const key_entry *e = key_model_entry(&c->set.model, i);
        if (e->place.file == 0)
            key_model_add(&first.model, e->key, e->key_bytes, e->place);
    }
    const char *what = index_check_directory(c->directory, &first);
    key_model_release(&first.model);
    return what;
}

/* After whatever happened, one more build makes everything right. */
static void check_recovery(crash_case *c, bool old_index, uint64_t at,
                           size_t clean_files)
{
    const char *what = check_old_or_new(c, old_index);
    if (what != NULL)
        fail_msg("operation %llu: %s", (unsigned long long)at, what);
    ksv_error error;
    if (run_build(c, NULL, &error) != KSV_OK)
        fail_msg("operation %llu: the next build fails: %s: %s",
                 (unsigned long long)at, error.path, error.text);
    what = index_check_directory(c->directory, &c->set);
    if (what != NULL)
        fail_msg("operation %llu: after the next build: %s",
                 (unsigned long long)at, what);
    if (index_copy_entries(c->directory) != clean_files)
        fail_msg("operation %llu: files are left over", (unsigned long long)at);
}

static size_t clean_build(crash_case *c, bool old_index)
{
    reset(c, old_index);
    assert_int_equal(run_build(c, NULL, NULL), KSV_OK);
    return index_copy_entries(c->directory);
}

static void kill_everywhere(bool old_index)
{
    crash_case c;
    make_case(&c, old_index);
    size_t clean_files = clean_build(&c, old_index);
    uint64_t at = 1;
    for (;; at++) {
        reset(&c, old_index);
        c.faults.plan =
            (fault_plan){.operations = FAULT_CHANGES, .at = at, .kill = true};
        int code = fault_run_forked(build_in_child, &c);
        if (code == 0)
            break;
        assert_int_equal(code, FAULT_EXIT_CODE);
        check_recovery(&c, old_index, at, clean_files);
    }
    assert_true(at > 20);
    fault_file_system_close(&c.faults);
    data_set_remove(&c.set);
}

static void fail_everywhere(bool old_index, int os_errno, bool partial)
{
    crash_case c;
    make_case(&c, old_index);
    size_t clean_files = clean_build(&c, old_index);
    uint64_t at = 1;
    for (;; at++) {
        reset(&c, old_index);
        c.faults.plan = (fault_plan){.operations = FAULT_CHANGES,
                                     .at = at,
                                     .os_errno = os_errno,
                                     .partial_append = partial};
        ksv_error error;
        ksv_status status = run_build(&c, &c.faults.fs, &error);
        if (fault_file_system_count(&c.faults) < at) {
            assert_int_equal(status, KSV_OK);
            break;
        }
        assert_int_equal(fault_file_system_open_files(&c.faults), 0);
        if (status != KSV_OK &&
            (error.text[0] == '\0' || error.os_errno != os_errno))
            fail_msg("operation %llu: %s", (unsigned long long)at, error.text);
        check_recovery(&c, old_index, at, clean_files);
    }
    assert_true(at > 20);
    fault_file_system_close(&c.faults);
    data_set_remove(&c.set);
}

/* What LMDB has written is taken to be durable, so that whatever else is not
 * makes a difference. */
static void lose_power_everywhere(bool old_index)
{
    crash_case c;
    make_case(&c, old_index);
    size_t clean_files = clean_build(&c, old_index);
    char lost[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&c.set.dir, "lost", lost);
    for (uint64_t at = 1;; at += PACE_STEP) {
        shell("rm -rf %s && mkdir %s", lost, lost);
        reset(&c, old_index);
        fault_file_system_track(&c.faults, lost);
        c.faults.plan =
            (fault_plan){.operations = FAULT_CHANGES, .at = at, .kill = true};
        int code = fault_run_forked(build_in_child, &c);
        fault_file_system_lose_power(&c.faults);
        const char *what = check_old_or_new(&c, old_index);
        if (what != NULL)
            fail_msg("operation %llu: %s", (unsigned long long)at, what);
        if (code == 0)
            break;
        assert_int_equal(code, FAULT_EXIT_CODE);
        check_recovery(&c, old_index, at, clean_files);
    }
    /* What was done stays. */
    const char *what = index_check_directory(c.directory, &c.set);
    if (what != NULL)
        fail_msg("at the end: %s", what);
    fault_file_system_close(&c.faults);
    data_set_remove(&c.set);
}

static void test_power_is_lost(void **state)
{
    (void)state;
    lose_power_everywhere(false);
    lose_power_everywhere(true);
}

static void test_killed_without_index(void **state)
{
    (void)state;
    kill_everywhere(false);
}

static void test_killed_with_old_index(void **state)
{
    (void)state;
    kill_everywhere(true);
}

static void test_read_write_errors(void **state)
{
    (void)state;
    fail_everywhere(false, EIO, false);
    fail_everywhere(true, EIO, false);
}

static void test_disk_full(void **state)
{
    (void)state;
    fail_everywhere(false, ENOSPC, true);
    fail_everywhere(true, ENOSPC, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_without_index),
        cmocka_unit_test(test_killed_with_old_index),
        cmocka_unit_test(test_read_write_errors),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_power_is_lost),
    };
    int failures = 0;
    ORGANISATIONS_RUN(tests, failures);
    return failures;
}
