/* SPDX-License-Identifier: MIT */
/* gzip and BGZF files that have grown: what an update reads, and what it finds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "catalog/catalog.h"
#include "datafile/bgzf_marker.h"
#include "support/counting_file_system.h"
#include "support/gzip_data.h"
#include "support/index_fixture.h"

enum { ROW_BYTES = 31 };

typedef struct fixture {
    index_fixture index;
    counting_file_system counting;
    gzip_bytes file;
    bool is_bgzf;
    gzip_how how;
} fixture;

static int setup(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    index_fixture_make(&f.index);
    counting_file_system_open(&f.counting, ksv_posix_file_system(), ".csv");
    f.how = gzip_how_usual();
    f.how.level = 1;
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    counting_file_system_close(&f->counting);
    gzip_bytes_release(&f->file);
    index_fixture_remove(&f->index);
    return 0;
}

static void pack(fixture *f, const char *text, size_t size)
{
    if (f->is_bgzf)
        gzip_bgzf_add(&f->file, text, size, 60000, &f->how);
    else
        gzip_member_add(&f->file, text, size, &f->how, NULL, 0);
}

static void save(fixture *f)
{
    gzip_file_write(ksv_posix_file_system(), f->index.paths[0], f->file.data,
                    f->file.size);
}

static void append_text(fixture *f, const char *text)
{
    pack(f, text, strlen(text));
    save(f);
}

/* Adds the rows with the keys from `first` on, in one member or many blocks. */
static void append_rows(fixture *f, int first, int count)
{
    char *text = malloc((size_t)(count + 1) * ROW_BYTES);
    assert_non_null(text);
    size_t size = first == 0 ? (size_t)sprintf(text, "id,v\n") : 0;
    for (int i = first; i < first + count; i++)
        size += (size_t)sprintf(text + size, "key%08d,%08x %08d\n", i,
                                (unsigned)i * 2654435761u, i);
    pack(f, text, size);
    free(text);
    save(f);
}

static ksv_status build(fixture *f)
{
    return index_fixture_build(&f->index, 1);
}

static ksv_status update(fixture *f, bool by_samples)
{
    f->index.options.compare_grown = !by_samples;
    return ksv_update(f->index.directory, NULL, 0, &f->index.options,
                      &f->index.report, &f->index.error);
}

static ksv_status verify_data(fixture *f)
{
    ksv_verify_options options;
    ksv_verify_options_init(&options);
    options.data = true;
    return ksv_verify(f->index.directory, &options, NULL, &f->index.error);
}

static void check_rows(fixture *f, int rows)
{
    for (int i = 0; i <= rows; i += i + 1) {
        int row = rows - 1 - i;
        char key[16], record[40];
        sprintf(key, "key%08d", row < 0 ? 0 : row);
        const char *found = index_fixture_get(&f->index, key);
        sprintf(record, "%s,", key);
        assert_int_equal(strncmp(found, record, strlen(record)), 0);
    }
    char none[16];
    sprintf(none, "key%08d", rows);
    assert_string_equal(index_fixture_get(&f->index, none), "");
}

/* Reading costs what is new, what lies between an access point and the end of
 * the old content, and samples. */
static void check_bytes_read(fixture *f)
{
    const int rows = 400000, more = 30000;
    append_rows(f, 0, rows);
    assert_int_equal(build(f), KSV_OK);
    const uint64_t old_bytes = f->file.size;
    f->index.options.file_system = &f->counting.fs;
    append_rows(f, rows, more);
    const uint64_t more_bytes = f->file.size - old_bytes;
    assert_int_equal(update(f, true), KSV_OK);
    assert_int_equal(f->index.report.records, more);
    assert_int_equal(f->index.report.index_records, rows + more);
    /* A point is 1.25 MiB before the last block of the content hash at most,
     * and that begins 1 MiB before the end at most. */
    const uint64_t again =
        old_bytes * 5 / 2 * (1 << 20) / ((uint64_t)rows * ROW_BYTES);
    assert_true(old_bytes > 3 * again / 2 + (2u << 18));
    assert_true(f->counting.bytes_read >= more_bytes);
    assert_true(f->counting.bytes_read < more_bytes + again + (2u << 18));
    assert_true(f->index.report.data_bytes >= more_bytes);
    assert_true(f->index.report.data_bytes <= f->counting.bytes_read);
    f->index.options.file_system = NULL;
    check_rows(f, rows + more);
    assert_int_equal(verify_data(f), KSV_OK);
    /* When all is compared everything is read. */
    append_rows(f, rows + more, 1);
    assert_int_equal(update(f, false), KSV_OK);
    assert_int_equal(f->index.report.records, 1);
    assert_true(f->index.report.data_bytes >= old_bytes);
    assert_int_equal(verify_data(f), KSV_OK);
}

static void test_bytes_read(void **state)
{
    check_bytes_read(*state);
}

static void test_bytes_read_of_bgzf(void **state)
{
    fixture *f = *state;
    f->is_bgzf = true;
    check_bytes_read(f);
}

/* Programs put new blocks behind the marker of the end, or in its place. */
static void test_marker(void **state)
{
    fixture *f = *state;
    f->is_bgzf = true;
    append_rows(f, 0, 20000);
    gzip_bgzf_marker_add(&f->file);
    save(f);
    assert_int_equal(build(f), KSV_OK);
    for (int i = 0; i < 6; i++) {
        if (i % 2 == 0)
            f->file.size -= BGZF_MARKER_BYTES;
        append_rows(f, 20000 + 100 * i, 100);
        gzip_bgzf_marker_add(&f->file);
        save(f);
        assert_int_equal(update(f, i % 3 != 0), KSV_OK);
        assert_in_range(f->index.report.records, 100, 700);
        check_rows(f, 20100 + 100 * i);
        assert_int_equal(verify_data(f), KSV_OK);
    }
    /* A changed block is no growth, where the marker was taken away as well. */
    f->file.size -= BGZF_MARKER_BYTES;
    f->file.data[10000] ^= 1;
    append_rows(f, 20600, 100);
    assert_int_equal(update(f, true), KSV_ERROR_DATA);
    f->file.data[10000] ^= 1;
    save(f);
    assert_int_equal(update(f, true), KSV_OK);
    check_rows(f, 20700);
}

/* The last record goes on in another member. */
static void test_last_record_grows(void **state)
{
    fixture *f = *state;
    append_rows(f, 0, 1000);
    append_text(f, "twice,1\nlast,2\nla");
    assert_int_equal(build(f), KSV_OK);
    assert_string_equal(index_fixture_get(&f->index, "la"), "la\n");
    append_text(f, "st,3\ntwice");
    assert_int_equal(update(f, true), KSV_OK);
    assert_int_equal(f->index.report.records, 2);
    assert_int_equal(f->index.report.index_records, 1004);
    assert_string_equal(index_fixture_get(&f->index, "la"), "");
    assert_string_equal(index_fixture_get(&f->index, "last"),
                        "last,2\nlast,3\n");
    append_text(f, "");
    assert_int_equal(update(f, true), KSV_OK);
    append_text(f, "x,1\n");
    assert_int_equal(update(f, true), KSV_OK);
    assert_string_equal(index_fixture_get(&f->index, "twice"), "twice,1\n");
    assert_string_equal(index_fixture_get(&f->index, "twicex"), "twicex,1\n");
    assert_int_equal(verify_data(f), KSV_OK);
}

/* A member that is being written makes the file stale, and no more. */
static void test_half_a_member(void **state)
{
    fixture *f = *state;
    append_rows(f, 0, 5000);
    assert_int_equal(build(f), KSV_OK);
    const size_t old_bytes = f->file.size;
    append_rows(f, 5000, 100);
    const size_t bytes = f->file.size;
    for (size_t cut = old_bytes + 1; cut < bytes; cut += 97) {
        f->file.size = cut;
        save(f);
        assert_int_equal(update(f, true), KSV_ERROR_DATA);
        assert_non_null(strstr(f->index.error.text, "truncated"));
        assert_int_equal(index_fixture_get(&f->index, "none")[0], '?');
    }
    f->file.size = bytes;
    save(f);
    assert_int_equal(update(f, true), KSV_OK);
    assert_int_equal(f->index.report.records, 100);
    check_rows(f, 5100);
}

static void points_path(fixture *f, char path[TEMP_DIR_PATH_BYTES])
{
    catalog_state state;
    char name[CATALOG_NAME_BYTES];
    assert_int_equal(catalog_read(ksv_posix_file_system(), f->index.directory,
                                  NULL, &state, NULL),
                     KSV_OK);
    catalog_sidecar_name(state.files[0].points_id, CATALOG_POINTS_ENDING, name);
    snprintf(path, TEMP_DIR_PATH_BYTES, "%.400s/%s", f->index.directory, name);
    catalog_state_release(&state);
}

/* Whatever byte of the old access points is wrong: all is indexed again, or
 * nothing hangs on it. */
static void test_damaged_points(void **state)
{
    fixture *f = *state;
    append_rows(f, 0, 3000);
    assert_int_equal(build(f), KSV_OK);
    int rows = 3000, whole = 0, all = 0;
    for (size_t at = 0;; at += 23) {
        char path[TEMP_DIR_PATH_BYTES];
        gzip_bytes points = {NULL, 0, 0};
        points_path(f, path);
        gzip_file_read(ksv_posix_file_system(), path, &points);
        bool is_done = at >= points.size;
        if (!is_done) {
            points.data[at] ^= 0x41;
            gzip_file_write(ksv_posix_file_system(), path, points.data,
                            points.size);
        }
        gzip_bytes_release(&points);
        if (is_done)
            break;
        append_rows(f, rows, 10);
        rows += 10;
        assert_int_equal(update(f, true), KSV_OK);
        whole += f->index.report.records == (uint64_t)rows;
        all++;
        assert_int_equal(f->index.report.index_records, rows);
        check_rows(f, rows);
        assert_int_equal(verify_data(f), KSV_OK);
    }
    assert_true(all > 8);
    assert_true(whole * 2 > all);
    char path[TEMP_DIR_PATH_BYTES];
    points_path(f, path);
    assert_int_equal(unlink(path), 0);
    append_rows(f, rows, 10);
    assert_int_equal(update(f, true), KSV_OK);
    assert_int_equal(f->index.report.records, rows + 10);
    check_rows(f, rows + 10);
}

/* Members that are not compressed, so that a change in one moves nothing. */
static void rewrite_rows(fixture *f, int changed)
{
    f->how.level = 0;
    f->file.size = 0;
    for (int member = 0; member < 1000; member++) {
        char text[100 * 2 * ROW_BYTES];
        size_t size = member == 0 ? (size_t)sprintf(text, "id,v\n") : 0;
        for (int i = 100 * member; i < 100 * (member + 1); i++)
            size += (size_t)sprintf(text + size, "%s%08d,something\n",
                                    i == changed ? "new" : "key", i);
        pack(f, text, size);
    }
}

/* A change that no sample shows is told by verify, and by the next update that
 * compares everything. */
static void test_change_between_samples(void **state)
{
    fixture *f = *state;
    rewrite_rows(f, -1);
    save(f);
    assert_int_equal(build(f), KSV_OK);
    int hidden = 0;
    for (int row = 2050; row < 40000 && hidden == 0; row += 3000) {
        rewrite_rows(f, row);
        append_text(f, "one,more\n");
        assert_int_equal(update(f, true), KSV_OK);
        if (f->index.report.records == 1)
            hidden = row;
    }
    assert_true(hidden != 0);
    ksv_status status = verify_data(f);
    assert_true(status == KSV_ERROR_STALE || status == KSV_ERROR_DATA);
    append_text(f, "one,again\n");
    assert_int_equal(update(f, false), KSV_OK);
    assert_true(f->index.report.records > 100000);
    assert_int_equal(verify_data(f), KSV_OK);
    char key[16], record[64];
    sprintf(key, "new%08d", hidden);
    sprintf(record, "%s,something\n", key);
    assert_string_equal(index_fixture_get(&f->index, key), record);
}

/* Garbage that was passed over stays the end of the content. */
static void test_garbage(void **state)
{
    fixture *f = *state;
    f->index.options.ignore_trailing_garbage = true;
    append_rows(f, 0, 1000);
    gzip_bytes_add(&f->file, "garbage", 7);
    save(f);
    assert_int_equal(build(f), KSV_OK);
    append_rows(f, 1000, 10);
    assert_int_equal(update(f, true), KSV_OK);
    check_rows(f, 1000);
    f->file.size = 0;
    append_rows(f, 0, 1000);
    assert_int_equal(build(f), KSV_OK);
    gzip_bytes_add(&f->file, "garbage", 7);
    save(f);
    assert_int_equal(update(f, true), KSV_OK);
    check_rows(f, 1000);
    f->index.options.ignore_trailing_garbage = false;
    gzip_bytes_add(&f->file, "more", 4);
    save(f);
    assert_int_equal(update(f, true), KSV_ERROR_DATA);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bytes_read),
        TEST(test_bytes_read_of_bgzf),
        TEST(test_marker),
        TEST(test_last_record_grows),
        TEST(test_half_a_member),
        TEST(test_damaged_points),
        TEST(test_change_between_samples),
        TEST(test_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
