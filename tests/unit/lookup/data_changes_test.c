/* SPDX-License-Identifier: MIT */
/* Data files and indexes that change under an index and under an open handle:
 * a record is what the file holds now, "not found" is certain. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/index_fixture.h"

static int setup(void **state)
{
    static index_fixture f;
    index_fixture_make(&f);
    index_fixture_write(&f, 0, "id,v\na,1\nb,2\nb,22\n");
    index_fixture_write(&f, 1, "id,v\nc,3\n");
    *state = &f;
    return index_fixture_build(&f, 2) == KSV_OK ? 0 : -1;
}

static int teardown(void **state)
{
    index_fixture_remove(*state);
    return 0;
}

static ksv_index *open_index(index_fixture *f)
{
    ksv_index *index;
    assert_int_equal(ksv_index_open(f->directory, NULL, &index, &f->error),
                     KSV_OK);
    return index;
}

/* What one key gives: "?", "-" for not found, or the first record. */
static const char *first(ksv_index *index, const char *key)
{
    static char buffer[128];
    uint64_t length;
    bool found;
    ksv_error error;
    ksv_status status =
        ksv_get_first(index, key, strlen(key), buffer, sizeof buffer - 1,
                      &length, &found, NULL, &error);
    if (status != KSV_OK)
        return status == KSV_ERROR_STALE ? "? stale" : "? other error";
    if (!found)
        return "-";
    buffer[length] = '\0';
    return buffer;
}

static ksv_status has(ksv_index *index, const char *key, bool filters_only)
{
    const ksv_key asked = {key, strlen(key)};
    bool found;
    return ksv_has(index, &asked, 1, filters_only, &found, NULL, NULL, NULL);
}

enum { MANY_ROWS = 20000, ROW_BYTES = 13 };

/* A file so large that its fingerprint is of samples. */
static void write_many_rows(index_fixture *f)
{
    char *text = malloc(5 + MANY_ROWS * (ROW_BYTES + 1));
    assert_non_null(text);
    size_t size = (size_t)sprintf(text, "id,v\n");
    for (int i = 0; i < MANY_ROWS; i++)
        size += (size_t)sprintf(text + size, "k%06d,1234\n", i);
    index_fixture_write(f, 0, text);
    free(text);
}

/* Changes a key of it in place, `row` being far from all samples. */
static void change_row(index_fixture *f, int row)
{
    FILE *file = fopen(f->paths[0], "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 5 + (long)row * ROW_BYTES, SEEK_SET), 0);
    assert_int_equal(fputc('n', file), 'n');
    assert_int_equal(fclose(file), 0);
}

/* The samples are 4 KiB at 18 places of the 260 kB: one of these rows, which
 * lie 2 KiB apart, is in none. */
static void test_change_between_samples(void **state)
{
    index_fixture *f = *state;
    for (int row = 5000; row < 5000 + 8 * 170; row += 170) {
        write_many_rows(f);
        assert_int_equal(index_fixture_build(f, 2), KSV_OK);
        change_row(f, row);
        char was[16], is[16], record[32];
        sprintf(was, "k%06d", row);
        sprintf(is, "n%06d", row);
        sprintf(record, "%s,1234\n", is);
        ksv_index *index = open_index(f);
        assert_string_equal(first(index, was), "? stale");
        assert_string_equal(first(index, is), "? stale");
        assert_int_equal(has(index, is, false), KSV_ERROR_STALE);
        assert_int_equal(has(index, is, true), KSV_ERROR_STALE);
        ksv_index_info info;
        assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
        assert_int_equal(info.files[0].state, KSV_STATE_STALE);
        ksv_index_close(index);
        assert_int_equal(ksv_verify(f->directory, NULL, NULL, NULL),
                         KSV_ERROR_STALE);
        assert_int_equal(
            ksv_update(f->directory, NULL, 0, NULL, &f->report, &f->error),
            KSV_OK);
        assert_int_equal(f->report.files_indexed, 1);
        assert_string_equal(index_fixture_get(f, is), record);
        assert_string_equal(index_fixture_get(f, was), "");
    }
}

static void touch(const char *path)
{
    const struct timespec times[2] = {{1000000000, 5}, {1000000000, 5}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* An update learns the new times, which makes the next look cheap, and nothing
 * wrong. */
static void test_touched(void **state)
{
    index_fixture *f = *state;
    write_many_rows(f);
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    touch(f->paths[0]);
    touch(f->paths[1]);
    assert_string_equal(index_fixture_get(f, "c"), "c,3\n");
    assert_string_equal(index_fixture_get(f, "k000007"), "k000007,1234\n");
    assert_string_equal(index_fixture_get(f, "none"), "");
    assert_int_equal(
        ksv_update(f->directory, NULL, 0, NULL, &f->report, &f->error), KSV_OK);
    assert_int_equal(f->report.files_indexed, 0);
    assert_int_equal(f->report.files_unchanged, 2);
    ksv_index *index = open_index(f);
    ksv_index_info info;
    assert_int_equal(ksv_index_get_info(index, &info, NULL), KSV_OK);
    for (size_t i = 0; i < info.file_count; i++) {
        assert_int_equal(info.files[i].state, KSV_STATE_OK);
        assert_true(info.files[i].bytes > 0);
    }
    assert_string_equal(first(index, "k000007"), "k000007,1234");
    assert_string_equal(first(index, "none"), "-");
    ksv_index_close(index);
}

/* Every call sees what was done before it, however short before. */
static void test_change_between_two_calls(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    assert_string_equal(first(index, "x"), "-");
    assert_string_equal(first(index, "a"), "a,1");
    FILE *file = fopen(f->paths[1], "a");
    assert_non_null(file);
    fputs("x,9\n", file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(first(index, "x"), "? stale");
    assert_int_equal(has(index, "x", true), KSV_ERROR_STALE);
    assert_string_equal(first(index, "a"), "a,1");
    assert_string_equal(first(index, "c"), "? stale");
    assert_int_equal(ksv_index_keys(index, NULL, NULL, NULL), KSV_ERROR_STALE);
    assert_int_equal(
        ksv_update(f->directory, NULL, 0, NULL, &f->report, &f->error), KSV_OK);
    assert_string_equal(first(index, "x"), "x,9");
    ksv_index_close(index);
}

static ksv_index *open_trusting(index_fixture *f, uint64_t trust_ns)
{
    ksv_index_options options;
    ksv_index_options_init(&options);
    options.trust_ns = trust_ns;
    ksv_index *index;
    assert_int_equal(ksv_index_open(f->directory, &options, &index, NULL),
                     KSV_OK);
    return index;
}

/* Who knows that nothing changes need not have the files looked at. */
static void test_trust(void **state)
{
    index_fixture *f = *state;
    ksv_index *for_long = open_trusting(f, (uint64_t)3600 * 1000000000);
    ksv_index *for_short = open_trusting(f, 1000000);
    assert_string_equal(first(for_long, "x"), "-");
    assert_string_equal(first(for_short, "x"), "-");
    index_fixture_write(f, 1, "id,v\nc,3\nx,4\n");
    usleep(1500);
    assert_string_equal(first(for_long, "x"), "-");
    assert_string_equal(first(for_short, "x"), "? stale");
    ksv_index_close(for_long);
    ksv_index_close(for_short);
}

static bool count_key(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)record;
    *(size_t *)ctx = key_number + 1;
    return true;
}

/* Keys and header follow a build as lookups do. */
static void test_keys_and_header_after_an_update(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    index_fixture_write(f, 0, "key,id\n1,a\n2,b\n3,c\n4,d\n");
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    char header[16];
    uint64_t length;
    assert_int_equal(
        ksv_index_header(index, header, sizeof header, &length, NULL), KSV_OK);
    assert_int_equal(length, 6);
    assert_memory_equal(header, "key,id", 6);
    ksv_index_close(index);
    index = open_index(f);
    index_fixture_write(f, 0, "id,v\na,1\nb,2\n");
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    size_t keys = 0;
    assert_int_equal(ksv_index_keys(index, count_key, &keys, NULL), KSV_OK);
    assert_int_equal(keys, 3);
    ksv_index_close(index);
}

/* The file that is open leaves its place to a copy and is changed elsewhere. */
static void test_copy_takes_the_place(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    assert_string_equal(first(index, "a"), "a,1");
    char elsewhere[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f->dir, "old", elsewhere);
    assert_int_equal(rename(f->paths[0], elsewhere), 0);
    index_fixture_write(f, 0, "id,v\na,1\nb,2\nb,22\n");
    temp_dir_write(&f->dir, "old", "id,v\nb,7\na,8\nb,88\n", 18);
    assert_string_equal(first(index, "a"), "a,1");
    assert_string_equal(first(index, "b"), "b,2");
    ksv_index_close(index);
}

/* Another index, of the same generation, takes the place of the open one. */
static void test_other_index_takes_the_place(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    char name[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f->dir, "away", name);
    assert_int_equal(rename(f->directory, name), 0);
    index_fixture_write(f, 0, "id,v\na,new\n");
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    assert_string_equal(first(index, "a"), "a,new");
    assert_string_equal(first(index, "b"), "-");
    ksv_index_close(index);
}

static void tell_nothing(void *ctx, const ksv_error *problem, bool is_warning)
{
    (void)problem;
    (void)is_warning;
    ++*(int *)ctx;
}

/* A filter that a build has replaced is not damaged. */
static void test_build_is_no_damage(void **state)
{
    index_fixture *f = *state;
    int warnings = 0;
    ksv_index_options options;
    ksv_index_options_init(&options);
    options.problem = tell_nothing;
    options.problem_ctx = &warnings;
    ksv_index *index;
    assert_int_equal(ksv_index_open(f->directory, &options, &index, NULL),
                     KSV_OK);
    index_fixture_write(f, 0, "id,v\na,100\n");
    assert_int_equal(index_fixture_build(f, 2), KSV_OK);
    assert_string_equal(first(index, "a"), "a,100");
    assert_int_equal(has(index, "zz", true), KSV_OK);
    assert_int_equal(warnings, 0);
    ksv_index_close(index);
}

/* Records that were found may not be all when another file has changed. */
static void test_other_file_changed(void **state)
{
    index_fixture *f = *state;
    int warnings = 0;
    ksv_index_options options;
    ksv_index_options_init(&options);
    options.problem = tell_nothing;
    options.problem_ctx = &warnings;
    ksv_index *index;
    assert_int_equal(ksv_index_open(f->directory, &options, &index, NULL),
                     KSV_OK);
    const ksv_key key = {"a", 1};
    size_t records = 0;
    assert_int_equal(
        ksv_get(index, &key, 1, NULL, count_key, &records, NULL, NULL, NULL),
        KSV_OK);
    assert_int_equal(warnings, 0);
    index_fixture_write(f, 1, "id,v\nc,3\na,3\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ksv_get(index, &key, 1, NULL, count_key, &records,
                                 NULL, NULL, NULL),
                         KSV_OK);
        assert_int_equal(records, 1);
        assert_int_equal(warnings, 1);
    }
    ksv_index_close(index);
}

typedef struct spoiler {
    index_fixture *f;
    int visits;
} spoiler;

static bool spoil(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    spoiler *s = ctx;
    assert_non_null(record);
    if (s->visits++ == 0)
        index_fixture_write(s->f, 0, "id,v\nx,1\ny,2\nz,22\n");
    return true;
}

/* What a scan has found may not be there any more when it is read. */
static void test_change_during_a_scan(void **state)
{
    index_fixture *f = *state;
    ksv_index *index = open_index(f);
    const ksv_key key = {"b", 1};
    const ksv_lookup_options options = {.linear_scan = true};
    spoiler s = {f, 0};
    assert_int_equal(
        ksv_get(index, &key, 1, &options, spoil, &s, NULL, NULL, &f->error),
        KSV_ERROR_STALE);
    assert_int_equal(s.visits, 1);
    assert_string_equal(f->error.path, f->paths[0]);
    ksv_index_close(index);
}

enum { MANY_FILES = 150, DESCRIPTORS = 64 };

static void write_many_files(index_fixture *f, const char **files)
{
    static char paths[MANY_FILES][TEMP_DIR_PATH_BYTES];
    for (int i = 0; i < MANY_FILES; i++) {
        char name[16];
        sprintf(name, "many%d.csv", i);
        temp_dir_write(&f->dir, name, "id,v\nb,1\n", 9);
        files[i] = temp_dir_path(&f->dir, name, paths[i]);
    }
}

/* A key in more data files than a process may hold open. */
static void test_few_descriptors(void **state)
{
    index_fixture *f = *state;
    const char *files[MANY_FILES];
    write_many_files(f, files);
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = DESCRIPTORS;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    ksv_status status = ksv_build(f->directory, files, MANY_FILES, &f->options,
                                  &f->report, &f->error);
    const char *answer = status == KSV_OK ? index_fixture_get(f, "b") : "";
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(status, KSV_OK);
    size_t lines = 0;
    for (const char *p = answer; *p != '\0'; p++)
        lines += *p == '\n';
    assert_int_equal(lines, MANY_FILES + 2);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_change_between_samples),
        TEST(test_touched),
        TEST(test_change_between_two_calls),
        TEST(test_trust),
        TEST(test_keys_and_header_after_an_update),
        TEST(test_copy_takes_the_place),
        TEST(test_other_index_takes_the_place),
        TEST(test_build_is_no_damage),
        TEST(test_other_file_changed),
        TEST(test_change_during_a_scan),
        TEST(test_few_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
