/* SPDX-License-Identifier: MIT */
/* Data files that have grown: what an update reads, and what it finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/catalog.h"
#include "support/counting_file_system.h"
#include "support/index_fixture.h"

enum { ROW_BYTES = 31 };

static counting_file_system counting;

static int setup(void **state)
{
    static index_fixture f;
    index_fixture_make(&f);
    counting_file_system_open(&counting, ksv_posix_file_system(), ".csv");
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    counting_file_system_close(&counting);
    index_fixture_remove(*state);
    return 0;
}

/* Rows with the keys from `first` on, appended to data file 0. */
static void append_rows(index_fixture *f, int first, int count)
{
    FILE *file = fopen(f->paths[0], "ab");
    assert_non_null(file);
    if (first == 0)
        fputs("id,v\n", file);
    for (int i = first; i < first + count; i++)
        fprintf(file, "key%08d,something %08d\n", i, i);
    assert_int_equal(fclose(file), 0);
}

static void append_text(index_fixture *f, const char *text)
{
    FILE *file = fopen(f->paths[0], "ab");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static ksv_status update(index_fixture *f, bool by_samples)
{
    f->options.compare_grown = !by_samples;
    return ksv_update(f->directory, NULL, 0, &f->options, &f->report,
                      &f->error);
}

static ksv_status verify_data(index_fixture *f)
{
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    return ksv_verify(f->directory, &options, NULL, &f->error);
}

static size_t count_extents(index_fixture *f)
{
    catalog_state state;
    assert_int_equal(catalog_read(ksv_posix_file_system(), f->directory, NULL,
                                  &state, &f->error),
                     KSV_OK);
    size_t count = state.files[0].extent_count;
    catalog_state_release(&state);
    return count;
}

/* Reading costs what is new, and a little: samples, and what a block of the
 * content hash lacks. */
static void test_bytes_read(void **state)
{
    index_fixture *f = *state;
    const int rows = 600000, more_rows = 32768;
    const uint64_t more_bytes = (uint64_t)more_rows * ROW_BYTES;
    append_rows(f, 0, rows);
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    f->options.file_system = &counting.fs;
    append_rows(f, rows, more_rows);
    assert_int_equal(update(f, true), KSV_OK);
    assert_int_equal(f->report.records, more_rows);
    assert_int_equal(f->report.index_records, rows + more_rows);
    assert_true(counting.bytes_read >= more_bytes);
    assert_true(counting.bytes_read < more_bytes + (3u << 19));
    assert_string_equal(index_fixture_get(f, "key00000007"),
                        "key00000007,something 00000007\n");
    assert_string_equal(index_fixture_get(f, "key00610000"),
                        "key00610000,something 00610000\n");
    assert_string_equal(index_fixture_get(f, "key00632768"), "");
    assert_int_equal(count_extents(f), 2);
    /* When all is compared everything is read, but once. */
    counting_file_system_reset(&counting);
    append_rows(f, rows + more_rows, 1);
    uint64_t size = (uint64_t)(rows + more_rows) * ROW_BYTES;
    assert_int_equal(update(f, false), KSV_OK);
    assert_int_equal(f->report.records, 1);
    assert_true(counting.bytes_read >= size);
    assert_true(counting.bytes_read < size + (3u << 19));
    assert_int_equal(verify_data(f), KSV_OK);
}

/* A row that is in no sample gets another key. */
static void change_row(index_fixture *f, int row)
{
    FILE *file = fopen(f->paths[0], "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 5 + (long)row * ROW_BYTES, SEEK_SET), 0);
    fputs("new", file);
    assert_int_equal(fclose(file), 0);
}

static void test_change_before_growth(void **state)
{
    index_fixture *f = *state;
    append_rows(f, 0, 20000);
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    for (int row = 5000; row < 5000 + 8 * 70; row += 70) {
        char was[16], is[16], record[64];
        sprintf(was, "key%08d", row);
        sprintf(is, "new%08d", row);
        sprintf(record, "%s,something %08d\n", is, row);
        change_row(f, row);
        append_text(f, "one,more\n");
        assert_int_equal(update(f, false), KSV_OK);
        assert_string_equal(index_fixture_get(f, was), "");
        assert_string_equal(index_fixture_get(f, is), record);
    }
    assert_int_equal(verify_data(f), KSV_OK);
}

/* A change that no sample shows is told by verify, and by the next update that
 * compares everything. */
static void test_change_between_samples(void **state)
{
    index_fixture *f = *state;
    append_rows(f, 0, 40000);
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    int hidden = 0;
    for (int row = 5000; row < 5000 + 8 * 70 && hidden == 0; row += 70) {
        change_row(f, row);
        append_text(f, "one,more\n");
        assert_int_equal(update(f, true), KSV_OK);
        if (f->report.records == 1)
            hidden = row;
    }
    assert_true(hidden != 0);
    assert_int_equal(verify_data(f), KSV_ERROR_STALE);
    append_text(f, "one,again\n");
    assert_int_equal(update(f, false), KSV_OK);
    assert_true(f->report.records > 40000);
    assert_int_equal(verify_data(f), KSV_OK);
    char key[16], record[64];
    sprintf(key, "new%08d", hidden);
    sprintf(record, "%s,something %08d\n", key, hidden);
    assert_string_equal(index_fixture_get(f, key), record);
}

/* The last record goes on: its old key is gone, also where another record has
 * the same one. */
static void test_last_record_grows(void **state)
{
    index_fixture *f = *state;
    append_rows(f, 0, 1000);
    append_text(f, "twice,1\nlast,2\nla");
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    assert_string_equal(index_fixture_get(f, "la"), "la\n");
    append_text(f, "st,3\ntwice");
    assert_int_equal(update(f, true), KSV_OK);
    assert_int_equal(f->report.records, 2);
    assert_int_equal(f->report.index_records, 1004);
    assert_string_equal(index_fixture_get(f, "la"), "");
    assert_string_equal(index_fixture_get(f, "last"), "last,2\nlast,3\n");
    assert_string_equal(index_fixture_get(f, "twice"), "twice,1\ntwice\n");
    append_text(f, "x,1\n");
    assert_int_equal(update(f, true), KSV_OK);
    assert_string_equal(index_fixture_get(f, "twice"), "twice,1\n");
    assert_string_equal(index_fixture_get(f, "twicex"), "twicex,1\n");
    assert_int_equal(verify_data(f), KSV_OK);
}

static void test_unique_across_extents(void **state)
{
    index_fixture *f = *state;
    append_rows(f, 0, 1000);
    f->options.unique = true;
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    append_rows(f, 1000, 1);
    assert_int_equal(update(f, true), KSV_OK);
    append_rows(f, 7, 1);
    assert_int_equal(update(f, true), KSV_ERROR_DUPLICATE);
    assert_int_equal(f->error.byte_offset, 5 + 1001 * ROW_BYTES);
    assert_non_null(strstr(f->error.text, "byte 222"));
    assert_int_equal(index_fixture_get(f, "none")[0], '?');
    f->options.unique = false;
    assert_int_equal(update(f, true), KSV_OK);
    assert_int_equal(verify_data(f), KSV_OK);
}

/* Of a file that grows a hundred times there are a few extents at any time. */
static void test_few_extents(void **state)
{
    index_fixture *f = *state;
    append_rows(f, 0, 1000);
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    size_t most = 0;
    uint64_t records = 0;
    for (int i = 0; i < 60; i++) {
        append_rows(f, 1000 + 10 * i, 10);
        assert_int_equal(update(f, true), KSV_OK);
        records += f->report.records;
        size_t extents = count_extents(f);
        most = extents > most ? extents : most;
    }
    assert_true(most >= 3);
    assert_true(most <= 8);
    /* Each record is indexed again a few times only. */
    assert_true(records < 600 * 7);
    assert_int_equal(verify_data(f), KSV_OK);
}

/* What cannot be gone on with is indexed anew, and right. */
static void test_other_growth(void **state)
{
    index_fixture *f = *state;
    append_rows(f, 0, 100);
    assert_int_equal(index_fixture_build(f, 1), KSV_OK);
    append_rows(f, 100, 1000);
    assert_int_equal(update(f, true), KSV_OK);
    assert_int_equal(f->report.records, 1100);
    append_text(f, "\"open");
    assert_int_equal(update(f, true), KSV_ERROR_DATA);
    assert_int_equal(f->error.line, 1102);
    assert_int_equal(index_fixture_get(f, "none")[0], '?');
    append_text(f, "\",1\n");
    assert_int_equal(update(f, true), KSV_OK);
    assert_string_equal(index_fixture_get(f, "open"), "\"open\",1\n");
    f->options.strict = true;
    append_text(f, ",2\n");
    assert_int_equal(update(f, true), KSV_ERROR_DATA);
    f->options.strict = false;
    assert_int_equal(update(f, true), KSV_OK);
    assert_int_equal(f->report.records_without_key, 1);
    f->options.strict = true;
    append_text(f, "z,2\n");
    assert_int_equal(update(f, true), KSV_ERROR_DATA);
    assert_int_equal(verify_data(f), KSV_ERROR_STALE);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bytes_read),
        TEST(test_change_before_growth),
        TEST(test_change_between_samples),
        TEST(test_last_record_grows),
        TEST(test_unique_across_extents),
        TEST(test_few_extents),
        TEST(test_other_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
