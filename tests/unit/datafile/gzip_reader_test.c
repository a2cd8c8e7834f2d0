/* SPDX-License-Identifier: MIT */
/* What random reads of compressed data cost, and what they notice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "datafile/points_reader.h"
#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/fault_file_system.h"
#include "support/gzip_data.h"

#define SPACING ((uint64_t)1 << 18)

typedef struct fixture {
    ksv_file_system fs;
    gzip_bytes content;
    gzip_bytes file;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    assert_int_equal(memory_file_system_open(NULL, &f.fs, NULL), KSV_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    gzip_bytes_release(&f->content);
    gzip_bytes_release(&f->file);
    memory_file_system_close(&f->fs);
    return 0;
}

static void make_points(fixture *f)
{
    gzip_file_write(&f->fs, "data", f->file.data, f->file.size);
    gzip_pass pass = {.spacing_bytes = SPACING, .points_path = "data.ksz"};
    gzip_pass_run(&pass, &f->fs, "data", NULL);
    assert_int_equal(pass.status, KSV_OK);
    assert_int_equal(pass.content.size, f->content.size);
    gzip_bytes_release(&pass.content);
}

/* One member of text, with flushes or in one block for all of it. */
static void make_gzip(fixture *f, size_t size_bytes, bool one_block)
{
    random_source random = {7};
    gzip_content_add(&f->content, GZIP_CONTENT_TEXT, size_bytes, &random);
    gzip_how how = gzip_how_usual();
    if (one_block) {
        how.strategy = Z_FIXED;
        how.memory_level = 9;
    }
    gzip_member_add(&f->file, f->content.data, size_bytes, &how, NULL, 0);
    make_points(f);
}

static datafile *open_file(fixture *f)
{
    datafile *file;
    ksv_error error;
    if (datafile_open_compressed(&f->fs, "data", "data.ksz", NULL, NULL, &file,
                                 &error) != KSV_OK)
        fail_msg("%s", error.text);
    return file;
}

static datafile_cost read_right(fixture *f, datafile *file, uint64_t offset,
                                size_t size_bytes)
{
    uint8_t *buffer = malloc(size_bytes);
    assert_non_null(buffer);
    datafile_cost cost = {0, 0, 0};
    size_t got;
    assert_int_equal(
        datafile_read_at(file, offset, buffer, size_bytes, &got, &cost, NULL),
        KSV_OK);
    assert_int_equal(got, size_bytes);
    assert_memory_equal(buffer, f->content.data + offset, size_bytes);
    free(buffer);
    return cost;
}

/* A read inflates what stands before it in the span, itself, and the rest of a
 * chunk. */
static void test_cost_is_bounded(void **state)
{
    fixture *f = *state;
    make_gzip(f, 3000000, false);
    random_source random = {3};
    uint64_t inflated = 0;
    for (int i = 0; i < 200; i++) {
        datafile *file = open_file(f);
        const datafile_cost cost =
            read_right(f, file, random_below(&random, 2999000), 100);
        assert_true(cost.bytes_inflated <=
                    SPACING + SPACING / 4 + 65536 + POINTS_CHUNK_BYTES + 600);
        /* Directory, page, window, and the data once or twice. */
        assert_true(cost.reads >= 3 && cost.reads <= 6);
        assert_true(cost.bytes_read < 400000);
        inflated += cost.bytes_inflated;
        datafile_close(file);
    }
    /* On average half a span and half a chunk. */
    assert_true(inflated / 200 < SPACING);
}

static void test_long_reads_do_not_restart(void **state)
{
    fixture *f = *state;
    make_gzip(f, 3000000, false);
    datafile *file = open_file(f);
    const datafile_cost cost = read_right(f, file, 100, 2900000);
    assert_true(cost.bytes_inflated <= 2900100 + POINTS_CHUNK_BYTES + 300);
    datafile_close(file);
}

/* Reads in order, each in the span of the one before it, inflate it once. */
static void test_sorted_reads_go_on(void **state)
{
    fixture *f = *state;
    make_gzip(f, 3000000, false);
    datafile *file = open_file(f);
    uint64_t inflated = 0;
    for (uint64_t offset = 0; offset < 2990000; offset += 997)
        inflated += read_right(f, file, offset, 200).bytes_inflated;
    assert_true(inflated <= 3000300);
    datafile_close(file);
}

static void test_points_inside_a_block(void **state)
{
    fixture *f = *state;
    make_gzip(f, 2000000, true);
    random_source random = {4};
    datafile *file = open_file(f);
    for (int i = 0; i < 300; i++)
        (void)read_right(f, file, random_below(&random, 1990000), 1000);
    datafile_close(file);
}

static void test_past_the_end(void **state)
{
    fixture *f = *state;
    make_gzip(f, 100000, false);
    datafile *file = open_file(f);
    uint8_t buffer[100];
    size_t got;
    assert_int_equal(
        datafile_read_at(file, 99950, buffer, 100, &got, NULL, NULL), KSV_OK);
    assert_int_equal(got, 50);
    assert_memory_equal(buffer, f->content.data + 99950, 50);
    assert_int_equal(
        datafile_read_at(file, 100000, buffer, 100, &got, NULL, NULL), KSV_OK);
    assert_int_equal(got, 0);
    assert_int_equal(
        datafile_read_at(file, UINT64_MAX, buffer, 100, &got, NULL, NULL),
        KSV_OK);
    assert_int_equal(got, 0);
    datafile_close(file);
}

static void test_empty_content(void **state)
{
    fixture *f = *state;
    make_gzip(f, 0, false);
    datafile *file = open_file(f);
    uint8_t byte;
    size_t got;
    assert_int_equal(datafile_read_at(file, 0, &byte, 1, &got, NULL, NULL),
                     KSV_OK);
    assert_int_equal(got, 0);
    datafile_close(file);
}

/* Of another size it is stale; of the same size the checksums tell. */
static void test_changed_data(void **state)
{
    fixture *f = *state;
    make_gzip(f, 500000, false);
    gzip_bytes_add(&f->file, "\0", 1);
    gzip_file_write(&f->fs, "data", f->file.data, f->file.size);
    datafile *file;
    ksv_error error;
    assert_int_equal(datafile_open_compressed(&f->fs, "data", "data.ksz", NULL,
                                              NULL, &file, &error),
                     KSV_ERROR_STALE);
    assert_string_equal(error.path, "data");
    f->file.size--;
    random_source random = {9};
    size_t noticed = 0;
    for (int i = 0; i < 60; i++) {
        const size_t at = 20 + random_below(&random, f->file.size - 40);
        f->file.data[at] ^= 0x10;
        gzip_file_write(&f->fs, "data", f->file.data, f->file.size);
        file = open_file(f);
        for (uint64_t offset = 0; offset < 500000; offset += 49999) {
            uint8_t buffer[50];
            size_t got;
            const ksv_status status = datafile_read_at(
                file, offset, buffer, sizeof buffer, &got, NULL, &error);
            if (status == KSV_OK) {
                assert_memory_equal(buffer, f->content.data + offset, got);
                continue;
            }
            assert_int_equal(status, KSV_ERROR_DATA);
            assert_string_equal(error.path, "data");
            assert_true(error.byte_offset == 0);
            noticed++;
        }
        datafile_close(file);
        f->file.data[at] ^= 0x10;
    }
    assert_true(noticed > 60);
}

static void test_wrong_points(void **state)
{
    fixture *f = *state;
    make_gzip(f, 100000, false);
    datafile *file;
    ksv_error error;
    uint8_t other[16] = {1};
    assert_int_equal(datafile_open_compressed(&f->fs, "data", "data.ksz", other,
                                              NULL, &file, &error),
                     KSV_ERROR_CORRUPT);
    assert_string_equal(error.path, "data.ksz");
    assert_int_equal(datafile_open_compressed(&f->fs, "data", "none.ksz", NULL,
                                              NULL, &file, &error),
                     KSV_ERROR_IO);
    assert_string_equal(error.path, "none.ksz");
    assert_null(file);
}

static void test_no_memory(void **state)
{
    fixture *f = *state;
    make_gzip(f, 600000, false);
    ksv_status status = KSV_ERROR_MEMORY;
    for (size_t fail_at = 1; status != KSV_OK; fail_at++) {
        fault_allocator allocator;
        fault_allocator_init(&allocator, fail_at);
        datafile *file;
        status = datafile_open_compressed(&f->fs, "data", "data.ksz", NULL,
                                          &allocator.allocator, &file, NULL);
        if (status == KSV_OK) {
            uint8_t buffer[100];
            size_t got;
            status = datafile_read_at(file, 550000, buffer, sizeof buffer, &got,
                                      NULL, NULL);
            datafile_close(file);
        }
        assert_true(status == KSV_OK || status == KSV_ERROR_MEMORY);
        assert_true(fault_allocator_is_clean(&allocator));
    }
}

/* After a read that failed the next one is right. */
static void test_failing_reads(void **state)
{
    fixture *f = *state;
    make_gzip(f, 600000, false);
    fault_file_system faults;
    fault_file_system_open(&faults, &f->fs);
    datafile *file;
    assert_int_equal(datafile_open_compressed(&faults.fs, "data", "data.ksz",
                                              NULL, NULL, &file, NULL),
                     KSV_OK);
    uint8_t buffer[300];
    size_t got, failures = 0;
    for (uint64_t i = 0; i < 40; i++) {
        const uint64_t offset = i * 76543 % 599000;
        faults.plan = (fault_plan){
            .operations = FAULT_READ, .at = 1 + i % 4, .os_errno = 5};
        fault_file_system_reset(&faults);
        ksv_status status = datafile_read_at(file, offset, buffer,
                                             sizeof buffer, &got, NULL, NULL);
        failures += status != KSV_OK;
        assert_true(status == KSV_OK || status == KSV_ERROR_IO);
        faults.plan = (fault_plan){0};
        assert_int_equal(datafile_read_at(file, offset, buffer, sizeof buffer,
                                          &got, NULL, NULL),
                         KSV_OK);
        assert_memory_equal(buffer, f->content.data + offset, sizeof buffer);
    }
    assert_true(failures > 5);
    datafile_close(file);
    fault_file_system_close(&faults);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cost_is_bounded),    TEST(test_long_reads_do_not_restart),
        TEST(test_sorted_reads_go_on), TEST(test_points_inside_a_block),
        TEST(test_past_the_end),       TEST(test_empty_content),
        TEST(test_changed_data),       TEST(test_wrong_points),
        TEST(test_no_memory),          TEST(test_failing_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
