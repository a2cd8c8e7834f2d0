/* SPDX-License-Identifier: MIT */
/* A builder on an index directory: making, locking, cleaning, giving up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "catalog/catalog.h"
#include "io/memory_file_system.h"
#include "support/catalog_samples.h"
#include "support/index_copy.h"
#include "support/temp_dir.h"

typedef struct fixture {
    temp_dir dir;
    char index[TEMP_DIR_PATH_BYTES];
    catalog *c;
    catalog_state found;
    catalog_state state;
    bool repaired;
    ksv_error error;
} fixture;

static int set_up(void **ctx)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    temp_dir_path(&f.dir, "index", f.index);
    uint64_t seed = 8;
    sample_start(&f.state, &seed);
    sample_add_files(&f.state, &seed, 4);
    *ctx = &f;
    return 0;
}

static int tear_down(void **ctx)
{
    fixture *f = *ctx;
    catalog_state_release(&f->found);
    catalog_state_release(&f->state);
    temp_dir_remove(&f->dir);
    return 0;
}

static ksv_status open_with(fixture *f, const ksv_file_system *fs)
{
    return catalog_open(fs, f->index, NULL, &f->c, &f->found, &f->repaired,
                        NULL, &f->error);
}

static void open_index(fixture *f)
{
    if (open_with(f, ksv_posix_file_system()) != KSV_OK)
        fail_msg("%s: %s", f->error.path, f->error.text);
}

static bool exists(const fixture *f, const char *name)
{
    char path[TEMP_DIR_PATH_BYTES + 300];
    snprintf(path, sizeof path, "%s/%s", f->index, name);
    return access(path, F_OK) == 0;
}

static ksv_status read_index(fixture *f)
{
    catalog_state read;
    ksv_status status =
        catalog_read(ksv_posix_file_system(), f->index, NULL, &read, &f->error);
    if (status == KSV_OK)
        catalog_state_release(&read);
    return status;
}

static void test_nothing_committed_leaves_nothing(void **ctx)
{
    fixture *f = *ctx;
    open_index(f);
    assert_int_equal(f->found.generation, 0);
    assert_false(f->repaired);
    assert_true(exists(f, CATALOG_FILE_NAME));
    index_copy_write(f->index, "0000000000000001.ksf", "x", 1);
    index_copy_write(f->index, "0000000000000001.kst.tmp", "x", 1);
    assert_int_equal(read_index(f), KSV_ERROR_NO_INDEX);
    assert_string_equal(f->error.path, f->index);
    catalog_close(f->c);
    assert_false(exists(f, ""));
    assert_int_equal(read_index(f), KSV_ERROR_NO_INDEX);
}

static void test_a_directory_that_was_there_stays(void **ctx)
{
    fixture *f = *ctx;
    assert_int_equal(mkdir(f->index, 0777), 0);
    index_copy_write(f->index, "notes.txt", "mine", 4);
    assert_int_equal(read_index(f), KSV_ERROR_NO_INDEX);
    open_index(f);
    index_copy_write(f->index, "0000000000000001.ksf", "x", 1);
    catalog_close(f->c);
    assert_true(exists(f, "notes.txt"));
    assert_int_equal(index_copy_entries(f->index), 1);
}

static void test_files_of_others_stay_in_a_new_directory(void **ctx)
{
    fixture *f = *ctx;
    open_index(f);
    index_copy_write(f->index, "notes.txt", "mine", 4);
    catalog_close(f->c);
    assert_true(exists(f, "notes.txt"));
    assert_int_equal(index_copy_entries(f->index), 1);
}

static void test_two_builders(void **ctx)
{
    fixture *f = *ctx;
    open_index(f);
    catalog *other;
    catalog_state found;
    bool repaired;
    assert_int_equal(catalog_open(ksv_posix_file_system(), f->index, NULL,
                                  &other, &found, &repaired, NULL, &f->error),
                     KSV_ERROR_BUSY);
    assert_null(other);
    assert_string_equal(f->error.text, "another build is running");
    assert_string_equal(f->error.path, f->index);
    assert_true(exists(f, CATALOG_LOCK_NAME));
    assert_int_equal(catalog_commit(f->c, &f->state, &f->error), KSV_OK);
    catalog_close(f->c);
    assert_int_equal(read_index(f), KSV_OK);
    open_index(f);
    assert_true(sample_equal(&f->found, &f->state));
    catalog_close(f->c);
}

static void test_clean_keeps_what_is_named_and_what_is_not_ours(void **ctx)
{
    fixture *f = *ctx;
    open_index(f);
    assert_int_equal(catalog_commit(f->c, &f->state, &f->error), KSV_OK);
    char kept[CATALOG_NAME_BYTES];
    catalog_sidecar_name(f->state.segments[0].filter.id, CATALOG_FILTER_ENDING,
                         kept);
    static const char *const removed[] = {
        "00000000000000ff.ksf", "00000000000000ff.kst",
        "00000000000000ff.ksc", "0000000000000001.ksf.tmp",
        "catalog.mdb.tmp",      "catalog.new.tmp"};
    static const char *const foreign[] = {"data.tmp", "x.ksf", "README",
                                          "00000000000000ff.csv"};
    index_copy_write(f->index, kept, "f", 1);
    for (size_t i = 0; i < sizeof removed / sizeof removed[0]; i++)
        index_copy_write(f->index, removed[i], "r", 1);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        index_copy_write(f->index, foreign[i], "u", 1);
    assert_int_equal(catalog_clean(f->c, &f->state, &f->error), KSV_OK);
    for (size_t i = 0; i < sizeof removed / sizeof removed[0]; i++)
        assert_false(exists(f, removed[i]));
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        assert_true(exists(f, foreign[i]));
    assert_true(exists(f, kept));
    f->state.generation++;
    assert_int_equal(catalog_clean(f->c, &f->state, &f->error),
                     KSV_ERROR_ARGUMENT);
    catalog_close(f->c);
    assert_int_equal(read_index(f), KSV_OK);
}

static void test_a_state_that_cannot_be_is_not_committed(void **ctx)
{
    fixture *f = *ctx;
    open_index(f);
    assert_int_equal(catalog_commit(f->c, &f->state, &f->error), KSV_OK);
    f->state.parameters.hash_bits = 64;
    assert_int_equal(catalog_commit(f->c, &f->state, &f->error),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(f->state.generation, 1);
    f->state.parameters.hash_bits = 40;
    assert_int_equal(catalog_commit(f->c, &f->state, &f->error), KSV_OK);
    assert_int_equal(f->state.generation, 2);
    catalog_close(f->c);
    assert_int_equal(index_copy_entries(f->index), 3);
}

/* A changed file costs a few pages, not the whole catalog. */
static void test_only_differences_are_written(void **ctx)
{
    fixture *f = *ctx;
    uint64_t seed = 3;
    sample_add_files(&f->state, &seed, 1200);
    open_index(f);
    assert_int_equal(catalog_commit(f->c, &f->state, &f->error), KSV_OK);
    struct stat before;
    struct stat after;
    char path[TEMP_DIR_PATH_BYTES + 300];
    snprintf(path, sizeof path, "%s/%s", f->index, CATALOG_FILE_NAME);
    assert_int_equal(stat(path, &before), 0);
    for (int i = 0; i < 10; i++) {
        f->state.files[500 + i].records_without_key = 0;
        f->state.files[500 + i].records = (uint64_t)i;
        assert_int_equal(catalog_commit(f->c, &f->state, &f->error), KSV_OK);
    }
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size - before.st_size < 60 * 4096);
    catalog_close(f->c);
    open_index(f);
    assert_true(sample_equal(&f->found, &f->state));
    catalog_close(f->c);
}

/* The map of LMDB has to grow in the middle of a commit. */
static void test_a_large_state_over_a_small_one(void **ctx)
{
    fixture *f = *ctx;
    open_index(f);
    assert_int_equal(catalog_commit(f->c, &f->state, &f->error), KSV_OK);
    catalog_file *file = &f->state.files[0];
    memory_free(&f->state.allocator, file->layout, file->layout_bytes);
    file->layout_bytes = (size_t)20 << 20;
    file->layout = memory_zalloc(&f->state.allocator, file->layout_bytes);
    assert_non_null(file->layout);
    assert_int_equal(catalog_commit(f->c, &f->state, &f->error), KSV_OK);
    catalog_close(f->c);
    uint64_t bytes = 0;
    assert_int_equal(catalog_verify(ksv_posix_file_system(), f->index, NULL,
                                    &bytes, &f->error),
                     KSV_OK);
    assert_true(bytes > (uint64_t)40 << 20);
}

/* A file system of which one function refuses. */
static ksv_status refuse_lock(void *ctx, const char *path, ksv_file **lock,
                              ksv_error *error)
{
    (void)ctx;
    *lock = NULL;
    return error_set_os(error, EACCES, path, "cannot open the lock file");
}

static ksv_status refuse_create(void *ctx, const char *path, ksv_file **file,
                                ksv_error *error)
{
    (void)ctx;
    *file = NULL;
    return error_set_os(error, EROFS, path, "cannot create");
}

static ksv_status refuse_make(void *ctx, const char *path, ksv_error *error)
{
    (void)ctx;
    return error_set_os(error, EACCES, path, "cannot make the directory");
}

static void need_refusal(fixture *f, const ksv_file_system *fs,
                         int error_number)
{
    assert_int_equal(open_with(f, fs), KSV_ERROR_IO);
    assert_null(f->c);
    assert_string_equal(f->error.path, f->index);
    assert_int_equal(f->error.os_errno, error_number);
    assert_int_equal(f->error.remedy, KSV_REMEDY_OTHER_DIRECTORY);
}

static void test_a_directory_that_cannot_be_used(void **ctx)
{
    fixture *f = *ctx;
    ksv_file_system fs = *ksv_posix_file_system();
    fs.make_directory = refuse_make;
    need_refusal(f, &fs, EACCES);
    assert_false(exists(f, ""));
    fs = *ksv_posix_file_system();
    fs.lock = refuse_lock;
    need_refusal(f, &fs, EACCES);
    assert_false(exists(f, ""));
    fs = *ksv_posix_file_system();
    fs.create = refuse_create;
    need_refusal(f, &fs, EROFS);
    assert_false(exists(f, ""));
    assert_int_equal(mkdir(f->index, 0777), 0);
    need_refusal(f, &fs, EROFS);
    assert_int_equal(index_copy_entries(f->index), 0);
}

static void test_a_file_in_place_of_the_directory(void **ctx)
{
    fixture *f = *ctx;
    temp_dir_write(&f->dir, "index", "x", 1);
    assert_int_equal(open_with(f, ksv_posix_file_system()), KSV_ERROR_IO);
    assert_string_equal(f->error.path, f->index);
    assert_int_equal(read_index(f), KSV_ERROR_NO_INDEX);
    assert_int_equal(unlink(f->index), 0);
}

static void test_a_file_system_that_lmdb_does_not_see(void **ctx)
{
    fixture *f = *ctx;
    ksv_file_system fs;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    char parent[TEMP_DIR_PATH_BYTES];
    snprintf(parent, sizeof parent, "%s", f->dir.path);
    for (char *p = parent + 1; p != NULL;) {
        p = strchr(p, '/');
        if (p != NULL)
            *p = '\0';
        assert_int_equal(fs.make_directory(fs.ctx, parent, NULL), KSV_OK);
        if (p != NULL)
            *p++ = '/';
    }
    assert_int_equal(open_with(f, &fs), KSV_ERROR_UNSUPPORTED);
    assert_null(f->c);
    assert_false(exists(f, ""));
    memory_file_system_close(&fs);
}

int main(void)
{
    index_copy_prefer_memory();
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_committed_leaves_nothing),
        TEST(test_a_directory_that_was_there_stays),
        TEST(test_files_of_others_stay_in_a_new_directory),
        TEST(test_two_builders),
        TEST(test_clean_keeps_what_is_named_and_what_is_not_ours),
        TEST(test_a_state_that_cannot_be_is_not_committed),
        TEST(test_only_differences_are_written),
        TEST(test_a_large_state_over_a_small_one),
        TEST(test_a_directory_that_cannot_be_used),
        TEST(test_a_file_in_place_of_the_directory),
        TEST(test_a_file_system_that_lmdb_does_not_see),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
