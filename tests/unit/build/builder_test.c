/* SPDX-License-Identifier: MIT */
/* What a build refuses, keeps, repairs and reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/fault_allocator.h"
#include "support/index_fixture.h"

static int setup(void **state)
{
    static index_fixture f;
    index_fixture_make(&f);
    index_fixture_write(&f, 0, "id,v\na,1\nb,2\n");
    index_fixture_write(&f, 1, "v,id\n3,b\n4,c\n");
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    index_fixture_remove(*state);
    return 0;
}

static void test_report(void **state)
{
    index_fixture *f = *state;
    index_fixture_write(f, 2, "id,v\n,1\nd,2\n");
    assert_int_equal(index_fixture_build(f, 3), KSV_OK);
    assert_true(f->report.committed);
    assert_int_equal(f->report.files_indexed, 3);
    assert_int_equal(f->report.records, 6);
    assert_int_equal(f->report.records_without_key, 1);
    assert_string_equal(f->report.first_without_key.path, f->paths[2]);
    assert_int_equal(f->report.first_without_key.offset, 5);
    assert_int_equal(f->report.distinct_keys, 4);
    assert_int_equal(f->report.index_keyed_records, 5);
    assert_string_equal(index_fixture_get(f, "b"), "b,2\n3,b\n");
}

static void test_second_build_skips_what_is_unchanged(void **state)
{
    index_fixture *f = *state;
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    assert_int_equal(f->report.files_unchanged, 2);
    assert_int_equal(f->report.files_indexed, 0);
    assert_true(f->report.committed);
    /* Without options: those of the index. */
    f->options.format = NULL;
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
}

static void test_other_options_are_refused(void **state)
{
    index_fixture *f = *state;
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    const char *other = "v";
    f->format.keys = &other;
    assert_int_equal(index_fixture_build(f, 2), KSV_ERROR_MISMATCH);
    assert_non_null(strstr(f->error.text, "key"));
    const char *same = "id";
    f->format.keys = &same;
    f->options.fpr = 0.01;
    assert_int_equal(index_fixture_build(f, 2), KSV_ERROR_MISMATCH);
    f->options.fpr = 0;
    f->options.hash = KSV_HASH_SIPHASH;
    assert_int_equal(index_fixture_build(f, 2), KSV_ERROR_MISMATCH);
    f->options.hash = 0;
    f->format.format = KSV_FORMAT_TSV;
    assert_int_equal(index_fixture_build(f, 2), KSV_ERROR_MISMATCH);
    assert_string_equal(index_fixture_get(f, "c"), "");
}

static void test_bad_arguments_change_nothing(void **state)
{
    index_fixture *f = *state;
    f->options.fpr = 1.5;
    assert_int_equal(index_fixture_build(f, 1), KSV_ERROR_ARGUMENT);
    f->options.fpr = 0;
    f->options.organisation = KSV_ORGANISATION_HASH + 100;
    assert_int_equal(index_fixture_build(f, 1), KSV_ERROR_UNSUPPORTED);
    f->options.organisation = KSV_ORGANISATION_DEFAULT;
    f->options.format = NULL;
    assert_int_equal(index_fixture_build(f, 1), KSV_ERROR_ARGUMENT);
    assert_int_equal(access(f->directory, F_OK), -1);
}

static void test_failed_file_keeps_the_others(void **state)
{
    index_fixture *f = *state;
    index_fixture_write(f, 1, "id,v\nx,\"open\n");
    assert_int_equal(index_fixture_build(f, 2), KSV_ERROR_DATA);
    assert_string_equal(f->error.path, f->paths[1]);
    assert_int_equal(f->error.byte_offset, 7);
    assert_int_equal(f->error.line, 2);
    assert_true(f->report.committed);
    assert_int_equal(f->report.files_failed, 1);
    assert_string_equal(index_fixture_get(f, "a"), "a,1\n");
    /* It was never indexed, so that nothing is known of its keys. */
    assert_string_equal(index_fixture_get(f, "x"), "");
}

static void test_failure_leaves_no_index_where_none_was(void **state)
{
    index_fixture *f = *state;
    index_fixture_write(f, 0, "no,such\n1,2\n");
    assert_int_equal(index_fixture_build(f, 1), KSV_ERROR_DATA);
    assert_false(f->report.committed);
    assert_int_equal(access(f->directory, F_OK), -1);
}

static void test_directories_and_pipes_are_refused(void **state)
{
    index_fixture *f = *state;
    assert_int_equal(mkdir(f->paths[2], 0700), 0);
    assert_int_equal(mkfifo(f->paths[3], 0600), 0);
    assert_int_equal(index_fixture_build(f, 3), KSV_ERROR_ARGUMENT);
    assert_string_equal(f->error.path, f->paths[2]);
    const char *pipe_path = f->paths[3];
    assert_int_equal(
        ksv_build(f->directory, &pipe_path, 1, &f->options, NULL, &f->error),
        KSV_ERROR_ARGUMENT);
    assert_int_equal(access(f->directory, F_OK), -1);
}

/* What the index calls its own it may remove. */
static void test_names_of_the_index_are_refused(void **state)
{
    index_fixture *f = *state;
    char path[TEMP_DIR_PATH_BYTES];
    const char *file = path;
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    temp_dir_write(&f->dir, "ix/00000000000000aa.kst", "id\na\n", 5);
    temp_dir_path(&f->dir, "ix/00000000000000aa.kst", path);
    assert_int_equal(
        ksv_build(f->directory, &file, 1, &f->options, NULL, &f->error),
        KSV_ERROR_ARGUMENT);
    assert_string_equal(f->error.path, path);
    assert_int_equal(access(path, F_OK), 0);
    temp_dir_write(&f->dir, "ix/data.kst", "id\nq\n", 5);
    temp_dir_path(&f->dir, "ix/data.kst", path);
    assert_int_equal(
        ksv_build(f->directory, &file, 1, &f->options, NULL, &f->error),
        KSV_OK);
    assert_string_equal(index_fixture_get(f, "q"), "q\n");
}

static void test_unique(void **state)
{
    index_fixture *f = *state;
    f->options.unique = true;
    assert_int_equal(index_fixture_build(f, 2), KSV_ERROR_DUPLICATE);
    assert_string_equal(f->error.path, f->paths[1]);
    assert_int_equal(f->error.byte_offset, 5);
    assert_non_null(strstr(f->error.text, f->paths[0]));
    assert_non_null(strstr(f->error.text, "byte 9"));
    assert_int_equal(access(f->directory, F_OK), -1);
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    /* The old index stays when a second file brings a duplicate. */
    assert_int_equal(index_fixture_build(f, 2), KSV_ERROR_DUPLICATE);
    assert_string_equal(index_fixture_get(f, "b"), "b,2\n");
}

static void test_strict(void **state)
{
    index_fixture *f = *state;
    index_fixture_write(f, 0, "id,v\na,1\n,2\n");
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    f->options.strict = true;
    assert_int_equal(index_fixture_build(f, 1), KSV_ERROR_DATA);
    assert_int_equal(f->error.byte_offset, 9);
    assert_int_equal(f->error.line, 3);
    assert_string_equal(index_fixture_get(f, "a"), "a,1\n");
}

static void test_update(void **state)
{
    index_fixture *f = *state;
    assert_int_equal(ksv_update(f->directory, NULL, 0, NULL, NULL, &f->error),
                     KSV_ERROR_NO_INDEX);
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    index_fixture_write(f, 0, "id,v\nz,26\n");
    assert_int_equal(unlink(f->paths[1]), 0);
    assert_string_equal(index_fixture_get(f, "z"),
                        "? data changed after it was indexed");
    assert_int_equal(
        ksv_update(f->directory, NULL, 0, NULL, &f->report, &f->error), KSV_OK);
    assert_int_equal(f->report.files_indexed, 1);
    assert_int_equal(f->report.files_dropped, 1);
    assert_string_equal(index_fixture_get(f, "z"), "z,26\n");
    assert_string_equal(index_fixture_get(f, "a"), "");
    assert_string_equal(index_fixture_get(f, "c"), "");
    const char *added = f->paths[2];
    index_fixture_write(f, 2, "id,v\nnew,1\n");
    assert_int_equal(
        ksv_update(f->directory, &added, 1, NULL, &f->report, &f->error),
        KSV_OK);
    assert_string_equal(index_fixture_get(f, "new"), "new,1\n");
}

static void test_keep_missing(void **state)
{
    index_fixture *f = *state;
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    assert_int_equal(unlink(f->paths[1]), 0);
    ksv_build_options options;
    ksv_build_options_init(&options);
    options.keep_missing = true;
    assert_int_equal(
        ksv_update(f->directory, NULL, 0, &options, &f->report, &f->error),
        KSV_OK);
    assert_int_equal(f->report.files_dropped, 0);
    assert_string_equal(index_fixture_get(f, "a"), "a,1\n");
    assert_string_equal(index_fixture_get(f, "nope"),
                        "? data changed after it was indexed");
}

static bool stop_at_once(void *ctx, const ksv_progress *progress)
{
    (void)progress;
    ++*(int *)ctx;
    return false;
}

static void test_cancel(void **state)
{
    index_fixture *f = *state;
    int calls = 0;
    f->options.progress = stop_at_once;
    f->options.progress_ctx = &calls;
    assert_int_equal(index_fixture_build(f, 2), KSV_ERROR_CANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(access(f->directory, F_OK), -1);
}

/* Every allocation fails in turn: an error, nothing lost, nothing leaked. */
static void test_out_of_memory(void **state)
{
    index_fixture *f = *state;
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    size_t at = 1;
    for (;; at++) {
        fault_allocator fault;
        fault_allocator_init(&fault, at);
        f->options.allocator = &fault.allocator;
        ksv_status status = index_fixture_build(f, 2);
        assert_true(fault_allocator_is_clean(&fault));
        f->options.allocator = NULL;
        if (fault.calls < at)
            break;
        assert_string_equal(index_fixture_get(f, "a"), "a,1\n");
        /* Sidecars that could not be checked are made again. */
        assert_true(status == KSV_ERROR_MEMORY || status == KSV_OK);
        if (status == KSV_OK)
            continue;
    }
    assert_true(at > 50);
    assert_string_equal(index_fixture_get(f, "c"), "4,c\n");
}

int main(void)
{
#define WITH_FIXTURE(test) \
    cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_report),
        WITH_FIXTURE(test_second_build_skips_what_is_unchanged),
        WITH_FIXTURE(test_other_options_are_refused),
        WITH_FIXTURE(test_bad_arguments_change_nothing),
        WITH_FIXTURE(test_failed_file_keeps_the_others),
        WITH_FIXTURE(test_failure_leaves_no_index_where_none_was),
        WITH_FIXTURE(test_directories_and_pipes_are_refused),
        WITH_FIXTURE(test_names_of_the_index_are_refused),
        WITH_FIXTURE(test_names_of_the_index_are_refused),
        WITH_FIXTURE(test_unique),
        WITH_FIXTURE(test_strict),
        WITH_FIXTURE(test_update),
        WITH_FIXTURE(test_keep_missing),
        WITH_FIXTURE(test_cancel),
        WITH_FIXTURE(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
