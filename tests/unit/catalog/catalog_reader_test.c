/* SPDX-License-Identifier: MIT */
/* Readers and verify: what they find, over any file system, without writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>
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
    catalog_state state;
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
    catalog_state_release(&f->state);
    temp_dir_remove(&f->dir);
    return 0;
}

static void commit(fixture *f, int times)
{
    catalog *c;
    catalog_state found;
    bool repaired;
    assert_int_equal(catalog_open(ksv_posix_file_system(), f->index, NULL, &c,
                                  &found, &repaired, NULL, &f->error),
                     KSV_OK);
    catalog_state_release(&found);
    for (int i = 0; i < times; i++)
        assert_int_equal(catalog_commit(c, &f->state, &f->error), KSV_OK);
    catalog_close(c);
}

static ksv_status read_with(fixture *f, const ksv_file_system *fs)
{
    catalog_state read;
    ksv_status status = catalog_read(fs, f->index, NULL, &read, &f->error);
    if (status == KSV_OK) {
        assert_true(sample_equal(&read, &f->state));
        catalog_state_release(&read);
    }
    return status;
}

static ksv_status read_index(fixture *f)
{
    return read_with(f, ksv_posix_file_system());
}

static void test_no_index(void **ctx)
{
    fixture *f = *ctx;
    assert_int_equal(read_index(f), KSV_ERROR_NO_INDEX);
    assert_int_equal(f->error.remedy, KSV_REMEDY_BUILD);
    assert_string_equal(f->error.path, f->index);
    assert_int_equal(mkdir(f->index, 0777), 0);
    assert_int_equal(read_index(f), KSV_ERROR_NO_INDEX);
    index_copy_write(f->index, "lock", "", 0);
    index_copy_write(f->index, "data.csv", "a,b\n", 4);
    assert_int_equal(read_index(f), KSV_ERROR_NO_INDEX);
    index_copy_write(f->index, "catalog.mdb", "", 0);
    assert_int_equal(read_index(f), KSV_ERROR_NO_INDEX);
}

static void test_sidecars_without_a_catalog(void **ctx)
{
    fixture *f = *ctx;
    assert_int_equal(mkdir(f->index, 0777), 0);
    index_copy_write(f->index, "0000000000000001.kst", "x", 1);
    assert_int_equal(read_index(f), KSV_ERROR_CORRUPT);
    assert_int_equal(f->error.remedy, KSV_REMEDY_BUILD);
    assert_non_null(strstr(f->error.path, "index/catalog.mdb"));
    assert_string_equal(f->error.text, "is missing");
}

static void test_a_directory_in_place_of_a_file(void **ctx)
{
    fixture *f = *ctx;
    char path[TEMP_DIR_PATH_BYTES + 300];
    commit(f, 2);
    snprintf(path, sizeof path, "%s/0000000000000002.ksc", f->index);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    ksv_status status = read_index(f);
    assert_true(status == KSV_ERROR_CORRUPT || status == KSV_ERROR_IO);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(read_index(f), KSV_ERROR_CORRUPT);
    assert_string_equal(f->error.path, path);
}

/* Writing functions of a file system that readers may not call. */
static ksv_status never_open(void *ctx, const char *path, ksv_file **file,
                             ksv_error *error)
{
    (void)ctx;
    (void)file;
    (void)error;
    fail_msg("a reader changes %s", path);
    return KSV_ERROR_IO;
}

static ksv_status never_rename(void *ctx, const char *from, const char *to,
                               ksv_error *error)
{
    (void)from;
    return never_open(ctx, to, NULL, error);
}

static ksv_status never(void *ctx, const char *path, ksv_error *error)
{
    return never_open(ctx, path, NULL, error);
}

static void test_readers_never_write(void **ctx)
{
    fixture *f = *ctx;
    ksv_file_system fs = *ksv_posix_file_system();
    fs.create = never_open;
    fs.lock = never_open;
    fs.rename = never_rename;
    fs.remove = never;
    fs.make_directory = never;
    fs.remove_directory = never;
    fs.sync_directory = never;
    assert_int_equal(read_with(f, &fs), KSV_ERROR_NO_INDEX);
    commit(f, 3);
    assert_int_equal(read_with(f, &fs), KSV_OK);
    uint64_t bytes = 0;
    assert_int_equal(catalog_verify(&fs, f->index, NULL, &bytes, NULL), KSV_OK);
    index_copy_write(f->index, "0000000000000003.ksc", "x", 1);
    assert_int_equal(read_with(f, &fs), KSV_ERROR_CORRUPT);
}

static void test_an_index_in_memory_is_read(void **ctx)
{
    fixture *f = *ctx;
    ksv_file_system fs;
    index_copy files;
    commit(f, 2);
    index_copy_take(&files, f->index);
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    assert_int_equal(fs.make_directory(fs.ctx, "/index", NULL), KSV_OK);
    for (size_t i = 0; i < files.count; i++) {
        char path[300];
        ksv_file *file;
        snprintf(path, sizeof path, "/index/%s", files.files[i].name);
        assert_int_equal(fs.create(fs.ctx, path, &file, NULL), KSV_OK);
        assert_int_equal(file->ops->append(file, files.files[i].data,
                                           files.files[i].size, NULL),
                         KSV_OK);
        assert_int_equal(file->ops->close(file, NULL), KSV_OK);
    }
    catalog_state read;
    uint64_t bytes = 0;
    assert_int_equal(catalog_read(&fs, "/index", NULL, &read, NULL), KSV_OK);
    assert_true(sample_equal(&read, &f->state));
    assert_int_equal(catalog_verify(&fs, "/index", NULL, &bytes, NULL), KSV_OK);
    catalog_state_release(&read);
    index_copy_release(&files);
    memory_file_system_close(&fs);
}

/* An allocator that fails at the n-th call: a status, and nothing leaks. */
typedef struct failing {
    long left;
    long live;
} failing;

static void *fail_alloc(void *ctx, size_t size)
{
    failing *x = ctx;
    if (x->left-- <= 0)
        return NULL;
    x->live++;
    return malloc(size);
}

static void *fail_realloc(void *ctx, void *p, size_t old, size_t size)
{
    failing *x = ctx;
    (void)old;
    if (x->left-- <= 0)
        return NULL;
    x->live += p == NULL;
    return realloc(p, size);
}

static void fail_free(void *ctx, void *p, size_t size)
{
    (void)size;
    ((failing *)ctx)->live--;
    free(p);
}

static void test_memory_that_runs_out(void **ctx)
{
    fixture *f = *ctx;
    commit(f, 2);
    ksv_status status = KSV_ERROR_MEMORY;
    for (long n = 0; status != KSV_OK; n++) {
        failing x = {n, 0};
        ksv_allocator a = {&x, fail_alloc, fail_realloc, fail_free};
        catalog_state read;
        status = catalog_read(ksv_posix_file_system(), f->index, &a, &read,
                              &f->error);
        assert_true(status == KSV_OK || status == KSV_ERROR_MEMORY);
        if (status == KSV_OK)
            catalog_state_release(&read);
        assert_int_equal(x.live, 0);
    }
    status = KSV_ERROR_MEMORY;
    for (long n = 0; status != KSV_OK; n++) {
        failing x = {n, 0};
        ksv_allocator a = {&x, fail_alloc, fail_realloc, fail_free};
        catalog *c;
        catalog_state found;
        bool repaired;
        status = catalog_open(ksv_posix_file_system(), f->index, &a, &c, &found,
                              &repaired, NULL, &f->error);
        assert_true(status == KSV_OK || status == KSV_ERROR_MEMORY);
        if (status == KSV_OK) {
            assert_false(repaired);
            catalog_state_release(&found);
            catalog_close(c);
        }
        assert_int_equal(x.live, 0);
        assert_int_equal(read_index(f), KSV_OK);
    }
}

static void test_verify_finds_what_readers_need_not_see(void **ctx)
{
    fixture *f = *ctx;
    commit(f, 3);
    index_copy files;
    index_copy_take(&files, f->index);
    index_copy_file *mdb = index_copy_find(&files, CATALOG_FILE_NAME);
    size_t found = 0;
    for (size_t at = 8192; at < mdb->size; at += 7) {
        mdb->data[at] ^= 0x10;
        index_copy_write(f->index, mdb->name, mdb->data, mdb->size);
        mdb->data[at] ^= 0x10;
        uint64_t bytes = 0;
        ksv_status status = catalog_verify(ksv_posix_file_system(), f->index,
                                           NULL, &bytes, &f->error);
        assert_true(status == KSV_OK || status == KSV_ERROR_CORRUPT);
        if (status == KSV_ERROR_CORRUPT)
            assert_non_null(strstr(f->error.path, CATALOG_FILE_NAME));
        found += status == KSV_ERROR_CORRUPT;
        if (at % 31 == 0)
            assert_int_equal(read_index(f), KSV_OK);
    }
    assert_true(found > 50);
    index_copy_release(&files);
}

int main(void)
{
    index_copy_prefer_memory();
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_no_index),
        TEST(test_sidecars_without_a_catalog),
        TEST(test_a_directory_in_place_of_a_file),
        TEST(test_readers_never_write),
        TEST(test_an_index_in_memory_is_read),
        TEST(test_memory_that_runs_out),
        TEST(test_verify_finds_what_readers_need_not_see),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
