/* SPDX-License-Identifier: MIT */
/* Files that are gone when a lookup comes to them, for good or for a moment. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "support/index_fixture.h"

/* More than keep their descriptors. */
enum { FEW_FILES = 2, MANY_FILES = 70 };

/* The file system of the machine; but at one time that a data file is looked
 * for by its path it is not there. */
typedef struct vanishing_file_system {
    ksv_file_system fs;
    atomic_uint looks;
    unsigned gone_at; /* from 1; 0: never */
} vanishing_file_system;

static ksv_status look(vanishing_file_system *v, const char *path,
                       ksv_error *error)
{
    size_t length = strlen(path);
    if (length < 4 || strcmp(path + length - 4, ".csv") != 0 ||
        atomic_fetch_add(&v->looks, 1) + 1 != v->gone_at)
        return KSV_OK;
    return error_set_os(error, ENOENT, path, "vanished");
}

static ksv_status vanishing_open_read(void *ctx, const char *path,
                                      ksv_file **out, ksv_error *error)
{
    const ksv_file_system *inner = ksv_posix_file_system();
    *out = NULL;
    ksv_status status = look(ctx, path, error);
    return status != KSV_OK ? status
                            : inner->open_read(inner->ctx, path, out, error);
}

static ksv_status vanishing_info(void *ctx, const char *path,
                                 ksv_file_info *info, ksv_error *error)
{
    const ksv_file_system *inner = ksv_posix_file_system();
    ksv_status status = look(ctx, path, error);
    return status != KSV_OK ? status
                            : inner->info(inner->ctx, path, info, error);
}

typedef struct world {
    index_fixture f;
    vanishing_file_system v;
    char paths[MANY_FILES][TEMP_DIR_PATH_BYTES];
    size_t count;
} world;

/* `count` files, the key of each being its number; touched, so that a lookup
 * has to read them to see that they are what they were. */
static void make(world *w, size_t count)
{
    index_fixture_make(&w->f);
    w->count = count;
    const char *files[MANY_FILES];
    for (size_t i = 0; i < count; i++) {
        char name[32], text[48];
        sprintf(name, "%zu.csv", i);
        int size = sprintf(text, "id,v\n%zu,x\n", i);
        temp_dir_write(&w->f.dir, name, text, (size_t)size);
        files[i] = temp_dir_path(&w->f.dir, name, w->paths[i]);
    }
    assert_int_equal(ksv_build(w->f.directory, files, count, &w->f.options,
                               &w->f.report, &w->f.error),
                     KSV_OK);
    const struct timespec times[2] = {{1000000000, 5}, {1000000000, 5}};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(utimensat(AT_FDCWD, files[i], times, 0), 0);
    w->v.fs = *ksv_posix_file_system();
    w->v.fs.ctx = &w->v;
    w->v.fs.open_read = vanishing_open_read;
    w->v.fs.info = vanishing_info;
}

static void unmake(world *w)
{
    index_fixture_remove(&w->f);
}

static ksv_status get(world *w, const char *key, unsigned gone_at, char *record,
                      ksv_error *error)
{
    ksv_index_options options;
    ksv_index_options_init(&options);
    options.file_system = &w->v.fs;
    w->v.gone_at = gone_at;
    atomic_store(&w->v.looks, 0);
    ksv_index *index;
    KSV_TRY(ksv_index_open(w->f.directory, &options, &index, error));
    uint64_t length;
    bool found;
    ksv_status status = ksv_get_first(index, key, strlen(key), record, 16,
                                      &length, &found, NULL, error);
    if (status == KSV_OK)
        record[found ? length : 0] = '\0';
    ksv_index_close(index);
    return status;
}

/* Whatever look it is, a data file that is not there makes an answer stale and
 * is no failure of the disk, for a caller who asks what was wrong as for one
 * who does not. */
static void check_moments(world *w, const char *key, const char *expected)
{
    char record[32];
    ksv_error error;
    unsigned stale = 0;
    assert_int_equal(get(w, key, 0, record, &error), KSV_OK);
    assert_string_equal(record, expected);
    unsigned looks = atomic_load(&w->v.looks);
    assert_true(looks > 1);
    for (unsigned at = 1; at <= looks; at++) {
        for (int asks = 0; asks < 2; asks++) {
            ksv_status status = get(w, key, at, record, asks ? &error : NULL);
            assert_true(status == KSV_OK || status == KSV_ERROR_STALE);
            if (status == KSV_OK)
                assert_string_equal(record, expected);
            stale += status == KSV_ERROR_STALE;
        }
    }
    assert_true(stale > 1);
}

static void test_data_vanishes_for_a_moment(void **state)
{
    (void)state;
    static const size_t COUNTS[] = {FEW_FILES, MANY_FILES};
    for (size_t i = 0; i < 2; i++) {
        static world w;
        make(&w, COUNTS[i]);
        check_moments(&w, "1", "1,x");
        check_moments(&w, "none", "");
        unmake(&w);
    }
}

/* A table that could not be opened is not taken for one at the next key. */
static void test_table_is_missing(void **state)
{
    (void)state;
    static world w;
    make(&w, FEW_FILES);
    char pattern[TEMP_DIR_PATH_BYTES + 16];
    snprintf(pattern, sizeof pattern, "%s/*.ks[stb]", w.f.directory);
    glob_t tables;
    assert_int_equal(glob(pattern, 0, NULL, &tables), 0);
    for (size_t i = 0; i < tables.gl_pathc; i++)
        assert_int_equal(unlink(tables.gl_pathv[i]), 0);
    ksv_index *index;
    assert_int_equal(ksv_index_open(w.f.directory, NULL, &index, NULL), KSV_OK);
    for (int i = 0; i < 3; i++) {
        char record[32];
        uint64_t length;
        bool found;
        ksv_error error;
        assert_int_equal(ksv_get_first(index, "1", 1, record, sizeof record,
                                       &length, &found, NULL, &error),
                         KSV_ERROR_CORRUPT);
        bool is_named = false;
        for (size_t t = 0; t < tables.gl_pathc; t++)
            is_named |= strcmp(error.path, tables.gl_pathv[t]) == 0;
        assert_true(is_named);
    }
    ksv_index_close(index);
    globfree(&tables);
    unmake(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_vanishes_for_a_moment),
        cmocka_unit_test(test_table_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
