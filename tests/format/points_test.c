/* SPDX-License-Identifier: MIT */
/* Access points of version 1 are read forever and written the same way; damage
 * to any byte of them, or of the data, gives a status and no wrong byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "datafile/points_reader.h"
#include "io/memory_file_system.h"
#include "support/gzip_data.h"
#include "support/pace.h"

#define GOLDEN_DATA KSV_TEST_DIR "/format/golden/points_v1.gz"
#define GOLDEN_POINTS KSV_TEST_DIR "/format/golden/points_v1.ksz"
#define GOLDEN_SPACING 40000
#define GOLDEN_LINES 12000

typedef struct fixture {
    ksv_file_system fs;
    gzip_bytes content;
    gzip_bytes data;
    gzip_bytes points;
} fixture;

/* What points_v1.gz holds, in three members. */
static void make_content(gzip_bytes *content)
{
    for (unsigned i = 0; i < GOLDEN_LINES; i++) {
        char line[40];
        const int n =
            snprintf(line, sizeof line, "%u,%u\n", i, i * 2654435761u % 911);
        gzip_bytes_add(content, line, (size_t)n);
    }
}

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    assert_int_equal(memory_file_system_open(NULL, &f.fs, NULL), KSV_OK);
    make_content(&f.content);
    gzip_file_read(ksv_posix_file_system(), GOLDEN_DATA, &f.data);
    gzip_file_read(ksv_posix_file_system(), GOLDEN_POINTS, &f.points);
    gzip_file_write(&f.fs, "data.gz", f.data.data, f.data.size);
    gzip_file_write(&f.fs, "data.ksz", f.points.data, f.points.size);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    gzip_bytes_release(&f->content);
    gzip_bytes_release(&f->data);
    gzip_bytes_release(&f->points);
    memory_file_system_close(&f->fs);
    return 0;
}

static ksv_status open_points(fixture *f, datafile **file, ksv_error *error)
{
    return datafile_open_compressed(&f->fs, "data.gz", "data.ksz", gzip_pass_id,
                                    NULL, file, error);
}

/* Reads here and there; a read that works gives the right bytes. The status of
 * the first that fails. */
static ksv_status use_points(fixture *f, uint64_t step, ksv_error *error)
{
    datafile *file;
    ksv_status status = open_points(f, &file, error);
    if (status != KSV_OK)
        return status;
    for (uint64_t offset = 0; offset < f->content.size; offset += step) {
        uint8_t buffer[100];
        size_t got;
        const ksv_status read = datafile_read_at(
            file, offset, buffer, sizeof buffer, &got, NULL, error);
        if (read == KSV_OK)
            assert_memory_equal(buffer, f->content.data + offset, got);
        else if (status == KSV_OK)
            status = read;
    }
    datafile_close(file);
    return status;
}

static void test_golden_is_read(void **state)
{
    fixture *f = *state;
    ksv_error error;
    assert_int_equal(use_points(f, 777, &error), KSV_OK);
    points_reader *points;
    assert_int_equal(points_reader_open(&f->fs, "data.ksz", gzip_pass_id, NULL,
                                        &points, &error),
                     KSV_OK);
    const points_info *info = points_reader_info(points);
    assert_int_equal(info->kind, DATAFILE_GZIP);
    assert_int_equal(info->members, 3);
    assert_int_equal(info->spacing_bytes, GOLDEN_SPACING);
    assert_int_equal(info->content_bytes, f->content.size);
    assert_true(info->points >= 3);
    assert_int_equal(points_reader_verify(points, &error), KSV_OK);
    points_reader_close(points);
}

static void run_golden_pass(fixture *f, gzip_bytes *points)
{
    gzip_pass pass = {.spacing_bytes = GOLDEN_SPACING,
                      .points_path = "again.ksz"};
    gzip_pass_run(&pass, &f->fs, "data.gz", NULL);
    assert_int_equal(pass.status, KSV_OK);
    assert_int_equal(pass.content.size, f->content.size);
    assert_memory_equal(pass.content.data, f->content.data, f->content.size);
    gzip_bytes_release(&pass.content);
    gzip_file_read(&f->fs, "again.ksz", points);
}

/* All but the windows, which another zlib may deflate in other ways. */
static void test_golden_is_written(void **state)
{
    fixture *f = *state;
    gzip_bytes again = {0};
    run_golden_pass(f, &again);
    points_reader *readers[2];
    assert_int_equal(
        points_reader_open(&f->fs, "data.ksz", NULL, NULL, &readers[0], NULL),
        KSV_OK);
    assert_int_equal(
        points_reader_open(&f->fs, "again.ksz", NULL, NULL, &readers[1], NULL),
        KSV_OK);
    const uint64_t count = points_reader_info(readers[0])->points;
    assert_int_equal(points_reader_info(readers[1])->points, count);
    points_page *pages = calloc(2, sizeof *pages);
    assert_non_null(pages);
    for (uint64_t i = 0; i < count; i++) {
        points_entry e[2];
        for (int k = 0; k < 2; k++)
            assert_int_equal(points_reader_entry(readers[k], &pages[k], i,
                                                 &e[k], NULL, NULL),
                             KSV_OK);
        assert_int_equal(e[0].content, e[1].content);
        assert_int_equal(e[0].header_bit, e[1].header_bit);
        assert_int_equal(e[0].symbol_bit, e[1].symbol_bit);
        assert_int_equal(e[0].member_offset, e[1].member_offset);
        assert_int_equal(e[0].data_end, e[1].data_end);
        assert_int_equal(e[0].span_bytes, e[1].span_bytes);
        assert_int_equal(e[0].first_crc, e[1].first_crc);
        assert_int_equal(e[0].window_bytes, e[1].window_bytes);
    }
    free(pages);
    points_reader_close(readers[0]);
    points_reader_close(readers[1]);
    gzip_bytes_release(&again);
}

static void check_damaged(fixture *f, bool use)
{
    gzip_file_write(&f->fs, "data.ksz", f->points.data, f->points.size);
    ksv_error error;
    points_reader *points;
    ksv_status status = points_reader_open(&f->fs, "data.ksz", gzip_pass_id,
                                           NULL, &points, &error);
    if (status == KSV_OK) {
        status = points_reader_verify(points, &error);
        points_reader_close(points);
    }
    assert_true(status == KSV_ERROR_CORRUPT || status == KSV_ERROR_VERSION);
    assert_string_equal(error.path, "data.ksz");
    if (use)
        (void)use_points(f, 30011, &error);
}

static void test_any_flipped_byte_of_points(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < f->points.size; i += PACE_STEP) {
        const uint8_t flip = (uint8_t)(1 << i % 8);
        f->points.data[i] ^= flip;
        check_damaged(f, i % 16 == 0 || i + 4200 > f->points.size || i < 64);
        f->points.data[i] ^= flip;
    }
}

static void test_any_length_of_points(void **state)
{
    fixture *f = *state;
    const size_t size = f->points.size;
    for (f->points.size = 0; f->points.size < size; f->points.size += PACE_STEP)
        check_damaged(f, f->points.size % 16 == 0);
    f->points.size = size;
    gzip_bytes_add(&f->points, "", 1);
    check_damaged(f, true);
}

/* Of a pass over damaged data: an error, or (a flip where nothing depends on
 * it) the same content. */
static void check_damaged_data(fixture *f, bool may_be_right)
{
    gzip_file_write(&f->fs, "data.gz", f->data.data, f->data.size);
    gzip_pass pass = {0};
    gzip_pass_run(&pass, &f->fs, "data.gz", NULL);
    if (pass.status == KSV_OK && pass.kind != DATAFILE_PLAIN) {
        assert_true(may_be_right);
        assert_int_equal(pass.content.size, f->content.size);
        assert_memory_equal(pass.content.data, f->content.data,
                            f->content.size);
    }
    gzip_bytes_release(&pass.content);
}

static void make_small(fixture *f)
{
    f->content.size = 700;
    f->data.size = 0;
    const gzip_how how = gzip_how_usual();
    gzip_member_add(&f->data, f->content.data, 400, &how, NULL, 0);
    gzip_member_add(&f->data, f->content.data + 400, 300, &how, NULL, 0);
}

static void test_any_flipped_bit_of_data(void **state)
{
    fixture *f = *state;
    make_small(f);
    for (size_t i = 0; i < f->data.size * 8; i += PACE_STEP) {
        f->data.data[i / 8] ^= (uint8_t)(1 << i % 8);
        check_damaged_data(f, true);
        f->data.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
}

static void test_any_length_of_data(void **state)
{
    fixture *f = *state;
    make_small(f);
    const size_t size = f->data.size;
    for (f->data.size = 2; f->data.size < size; f->data.size++) {
        gzip_file_write(&f->fs, "data.gz", f->data.data, f->data.size);
        gzip_pass pass = {0};
        gzip_pass_run(&pass, &f->fs, "data.gz", NULL);
        /* At the border of the members nothing shows. */
        if (pass.status == KSV_OK)
            assert_int_equal(pass.content.size, 400);
        else
            assert_int_equal(pass.status, KSV_ERROR_DATA);
        gzip_bytes_release(&pass.content);
    }
}

/* Makes the golden files anew: only for a new version. */
static void write_golden(void)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    gzip_bytes content = {0}, data = {0};
    make_content(&content);
    gzip_how how = gzip_how_usual();
    how.header_flags = 2 | 8;
    const size_t third = content.size / 3;
    gzip_member_add(&data, content.data, third, &how, NULL, 0);
    how.level = 9;
    gzip_member_add(&data, content.data + third, 100, &how, NULL, 0);
    gzip_member_add(&data, content.data + third + 100,
                    content.size - third - 100, &how, NULL, 0);
    gzip_file_write(fs, GOLDEN_DATA, data.data, data.size);
    gzip_pass pass = {.spacing_bytes = GOLDEN_SPACING,
                      .points_path = GOLDEN_POINTS};
    gzip_pass_run(&pass, fs, GOLDEN_DATA, NULL);
    gzip_bytes_release(&pass.content);
    gzip_bytes_release(&content);
    gzip_bytes_release(&data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--write-golden") == 0) {
        write_golden();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        TEST(test_golden_is_read),
        TEST(test_golden_is_written),
        TEST(test_any_flipped_byte_of_points),
        TEST(test_any_length_of_points),
        TEST(test_any_flipped_bit_of_data),
        TEST(test_any_length_of_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
