/* SPDX-License-Identifier: MIT */
/* "Not found" over many data files: each is looked at once a call, by several
 * threads, and none that changed is passed over. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <keysieve/keysieve.h>

#include "support/counting_file_system.h"
#include "support/temp_dir.h"

/* No multiple of what is looked at together, and enough for threads. */
enum { FILES = 701, PATH_BYTES = 300 };

static const char *const KEY = "id";
#define NEVER_NS 1000000000000000u

typedef struct fixture {
    temp_dir dir;
    char directory[PATH_BYTES];
    char paths[FILES][PATH_BYTES];
    counting_file_system counting;
    ksv_index *index;
    unsigned told; /* warnings */
    ksv_error last_told;
    ksv_error error;
} fixture;

static void remember(void *ctx, const ksv_error *problem, bool is_warning)
{
    fixture *f = ctx;
    assert_true(is_warning);
    f->told++;
    f->last_told = *problem;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Those of file number `i`. */
static void write_rows(const char *path, int i)
{
    char text[64];
    snprintf(text, sizeof text, "id,v\nk%d,%d\n", i, i);
    write_file(path, text);
}

static int setup(void **state)
{
    static fixture f;
    static const char *files[FILES];
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    snprintf(f.directory, sizeof f.directory, "%s/ix", f.dir.path);
    for (int i = 0; i < FILES; i++) {
        snprintf(f.paths[i], PATH_BYTES, "%s/%d.csv", f.dir.path, i);
        write_rows(f.paths[i], i);
        files[i] = f.paths[i];
    }
    ksv_format_options format;
    ksv_build_options options;
    ksv_build_report report;
    ksv_format_options_init(&format);
    format.format = KSV_FORMAT_CSV;
    format.keys = &KEY;
    format.key_count = 1;
    ksv_build_options_init(&options);
    options.format = &format;
    counting_file_system_open(&f.counting, ksv_posix_file_system(), ".csv");
    *state = &f;
    return ksv_build(f.directory, files, FILES, &options, &report, &f.error) ==
                   KSV_OK
               ? 0
               : -1;
}

static int teardown(void **state)
{
    fixture *f = *state;
    counting_file_system_close(&f->counting);
    temp_dir_remove(&f->dir);
    return 0;
}

static void open_index(fixture *f, uint64_t trust_ns)
{
    ksv_index_options options;
    ksv_index_options_init(&options);
    options.file_system = &f->counting.fs;
    options.problem = remember;
    options.problem_ctx = f;
    options.trust_ns = trust_ns;
    f->told = 0;
    assert_int_equal(
        ksv_index_open(f->directory, &options, &f->index, &f->error), KSV_OK);
}

static ksv_status ask(fixture *f, const char *key, bool *found)
{
    const ksv_key asked = {key, strlen(key)};
    counting_file_system_reset(&f->counting);
    return ksv_has(f->index, &asked, 1, false, found, NULL, NULL, &f->error);
}

static bool ignore_record(void *ctx, size_t number, const ksv_record *record)
{
    (void)number;
    *(unsigned *)ctx += record != NULL;
    return true;
}

/* Absent, after so many looks by name. */
static void expect_absent(fixture *f, uint64_t looks, uint64_t opens)
{
    bool found = true;
    ksv_status status = ask(f, "none", &found);
    if (status != KSV_OK)
        fail_msg("%s: %s", f->error.path, f->error.text);
    assert_false(found);
    assert_int_equal(f->counting.infos, looks);
    assert_int_equal(f->counting.opens, opens);
}

static void expect_stale(fixture *f, int file)
{
    bool found;
    assert_int_equal(ask(f, "none", &found), KSV_ERROR_STALE);
    assert_string_equal(f->error.path, f->paths[file]);
}

static void test_looks(void **state)
{
    fixture *f = *state;
    open_index(f, 0);
    expect_absent(f, FILES, 0);
    expect_absent(f, FILES, 0);
    ksv_index_close(f->index);
    open_index(f, NEVER_NS);
    expect_absent(f, FILES, 0);
    expect_absent(f, 0, 0);
    /* What all files were seen as serves for one of them. */
    bool found;
    assert_int_equal(ask(f, "k70", &found), KSV_OK);
    assert_true(found);
    assert_int_equal(f->counting.opens, 1);
    ksv_index_close(f->index);
}

/* A copy is read once in an open index. */
static void test_touched(void **state)
{
    fixture *f = *state;
    struct stat before;
    assert_int_equal(stat(f->paths[100], &before), 0);
    write_rows(f->paths[100], 100);
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, f->paths[100], times, 0), 0);
    open_index(f, 0);
    bool found;
    assert_int_equal(ask(f, "none", &found), KSV_OK);
    assert_false(found);
    assert_true(f->counting.opens > 0);
    expect_absent(f, FILES, 0);
    ksv_index_close(f->index);
    const struct timespec old[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, f->paths[100], old, 0), 0);
}

static void append(const char *path)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs("none,1\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* In an index that was open before and in one that is opened afterwards;
 * repaired by the same content again. */
static void test_changed(void **state)
{
    fixture *f = *state;
    static const int changed[] = {0, 63, 64, 300, FILES - 1};
    open_index(f, 0);
    ksv_index *old = f->index;
    bool found;
    assert_int_equal(ask(f, "none", &found), KSV_OK);
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        append(f->paths[changed[i]]);
        f->index = old;
        expect_stale(f, changed[i]);
        open_index(f, 0);
        expect_stale(f, changed[i]);
        expect_stale(f, changed[i]);
        ksv_index_close(f->index);
        write_rows(f->paths[changed[i]], changed[i]);
        f->index = old;
        assert_int_equal(ask(f, "none", &found), KSV_OK);
        assert_false(found);
    }
    ksv_index_close(old);
}

/* The first of several is named; who finds a key is told of each of them. */
static void test_several(void **state)
{
    fixture *f = *state;
    append(f->paths[650]);
    append(f->paths[130]);
    assert_int_equal(unlink(f->paths[131]), 0);
    open_index(f, 0);
    expect_stale(f, 130);
    const ksv_key key = {"k5", 2};
    unsigned records = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(ksv_get(f->index, &key, 1, NULL, ignore_record,
                                 &records, NULL, NULL, &f->error),
                         KSV_OK);
    assert_int_equal(records, 2);
    assert_int_equal(f->told, 3);
    assert_string_equal(f->last_told.path, f->paths[650]);
    write_rows(f->paths[130], 130);
    write_rows(f->paths[131], 131);
    expect_stale(f, 650);
    write_rows(f->paths[650], 650);
    bool found;
    assert_int_equal(ask(f, "none", &found), KSV_OK);
    ksv_index_close(f->index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_touched),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_several),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
