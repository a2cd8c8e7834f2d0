/* SPDX-License-Identifier: MIT */
/* A build, and a build with a merge behind it, stopped or failing at every
 * single change that it makes to the disk, those of LMDB's commits included:
 * the index is the old one or the new one, and the next build leaves nothing
 * over. */
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
#include "support/index_check.h"
#include "support/index_copy.h"
#include "support/pace.h"
#include "support/write_faults.h"

typedef struct crash_case {
    size_t old_files; /* 0: there is no index before */
    size_t new_files;
    long commits; /* of the build and what follows it */
    long step;    /* operations from one fault to the next; 0: 1 */
    data_set set;
    char directory[TEMP_DIR_PATH_BYTES];
    index_copy before;
    size_t clean_entries;
} crash_case;

static const crash_case CASES[] = {
    {.old_files = 0, .new_files = 2, .commits = 1},
    {.old_files = 1, .new_files = 2, .commits = 1},
    /* The last one makes a full tier of sixteen. */
    {.old_files = 15, .new_files = 1, .commits = 2},
    /* So many that they share a segment; each has a filter. */
    {.old_files = 0, .new_files = 18, .commits = 1, .step = 5},
};

static ksv_status build(crash_case *c, size_t first, size_t count,
                        ksv_error *error)
{
    ksv_format_options format;
    data_set_format(&c->set, &format);
    ksv_build_options options;
    ksv_build_options_init(&options);
    options.format = &format;
    options.threads = 1;
    const char *files[DATA_SET_FILES];
    for (size_t i = 0; i < count; i++)
        files[i] = c->set.paths[first + i];
    return ksv_build(c->directory, files, count, &options, NULL, error);
}

static ksv_status add_new(crash_case *c, ksv_error *error)
{
    return build(c, c->old_files, c->new_files, error);
}

static void restore(crash_case *c)
{
    if (c->old_files > 0) {
        index_copy_restore(&c->before, c->directory);
        return;
    }
    char command[TEMP_DIR_PATH_BYTES + 16];
    snprintf(command, sizeof command, "rm -rf %s", c->directory);
    assert_int_equal(system(command), 0);
}

static void make_case(crash_case *c)
{
    random_source random = {5};
    data_set_make(&c->set, KSV_FORMAT_CSV, 60);
    temp_dir_path(&c->set.dir, "ix", c->directory);
    for (size_t i = 0; i < c->old_files + c->new_files; i++)
        data_set_write(&c->set, i, 15, &random);
    if (c->old_files > 0) {
        assert_int_equal(build(c, 0, c->old_files, NULL), KSV_OK);
        index_copy_take(&c->before, c->directory);
    }
    /* Each commit writes pages, syncs and writes a meta page. */
    write_faults_watch("/catalog.mdb");
    write_faults_arm(WRITE_FAULT_NONE, 0, 0);
    assert_int_equal(add_new(c, NULL), KSV_OK);
    assert_true(write_faults_watched() >= 3 * c->commits);
    write_faults_watch(NULL);
    c->clean_entries = index_copy_entries(c->directory);
}

static void end_case(crash_case *c)
{
    if (c->old_files > 0)
        index_copy_release(&c->before);
    data_set_remove(&c->set);
}

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_SILENT = 2 };

/* In a process that meets a fault. */
static int try_to_add(void *ctx)
{
    ksv_error error = {.status = KSV_OK};
    if (add_new(ctx, &error) == KSV_OK)
        return EXIT_DONE;
    return error.text[0] != '\0' ? EXIT_FAILED : EXIT_SILENT;
}

/* How many files the index has; 0 when there is none, -1 when it is broken. */
static int count_files(const crash_case *c)
{
    ksv_index *index;
    ksv_index_info info;
    ksv_status status = ksv_index_open(c->directory, NULL, &index, NULL);
    if (status == KSV_ERROR_NO_INDEX)
        return 0;
    if (status != KSV_OK)
        return -1;
    status = ksv_index_get_info(index, &info, NULL);
    ksv_index_close(index);
    return status == KSV_OK ? (int)info.file_count : -1;
}

/* The answers of the old files alone, or of all. */
static const char *check_old_or_new(crash_case *c, bool has_to_be_new)
{
    int files = count_files(c);
    if (files == (int)(c->old_files + c->new_files))
        return index_check_directory(c->directory, &c->set);
    if (has_to_be_new)
        return "done, and yet it is not";
    if (files != (int)c->old_files)
        return "neither the old index nor the new one";
    if (files == 0)
        return NULL;
    data_set old = c->set;
    memset(&old.model, 0, sizeof old.model);
    for (size_t i = 0; i < c->set.model.count; i++) {
        const key_entry *e = key_model_entry(&c->set.model, i);
        if (e->place.file < c->old_files)
            key_model_add(&old.model, e->key, e->key_bytes, e->place);
    }
    const char *what = index_check_directory(c->directory, &old);
    key_model_release(&old.model);
    return what;
}

static void check_next_build(crash_case *c, long at)
{
    ksv_error error;
    if (add_new(c, &error) != KSV_OK)
        fail_msg("operation %ld: the next build: %s: %s", at, error.path,
                 error.text);
    const char *what = check_old_or_new(c, true);
    if (what != NULL)
        fail_msg("operation %ld: after the next build: %s", at, what);
    if (index_copy_entries(c->directory) != c->clean_entries)
        fail_msg("operation %ld: files are left over", at);
}

static void try_case(crash_case c, write_fault fault, int error_number)
{
    make_case(&c);
    long at = 1;
    long step = PACE_STEP * (c.step > 0 ? c.step : 1);
    for (int result = 0; result < WRITE_FAULTS_UNHARMED; at += step) {
        restore(&c);
        result = write_faults_run(fault, at, error_number, try_to_add, &c);
        if (result > WRITE_FAULTS_UNHARMED)
            fail_msg("a build that nothing happened to fails");
        if (result == EXIT_SILENT)
            fail_msg("operation %ld: an error without a text", at);
        const char *what = check_old_or_new(&c, result == EXIT_DONE);
        if (what != NULL)
            fail_msg("operation %ld: %s", at, what);
        check_next_build(&c, at);
    }
    assert_true(at > 20);
    end_case(&c);
}

static void try_all(write_fault fault, int error_number)
{
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        try_case(CASES[i], fault, error_number);
}

static void test_killed(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_KILL, 0);
}

static void test_killed_in_the_middle_of_writes(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_KILL_HALF, 0);
}

static void test_disk_full(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_FULL, ENOSPC);
}

static void test_one_write_without_room(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_FAIL_ONE, ENOSPC);
}

static void test_errors(void **state)
{
    (void)state;
    try_all(WRITE_FAULT_FAIL_ONE, EIO);
}

int main(void)
{
    index_copy_prefer_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_killed_in_the_middle_of_writes),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_one_write_without_room),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
