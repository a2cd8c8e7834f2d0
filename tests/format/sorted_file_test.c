/* SPDX-License-Identifier: MIT */
/* Sorted tables written before, cut short, changed or mixed up. With an
 * argument it writes the golden files into that directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "sorted/sorted_format.h"
#include "support/pace.h"
#include "support/sorted_fixture.h"

#define GOLDEN_DIR KSV_TEST_DIR "/format/golden/"
#define RAW_NAME "sorted_v1_raw.kss"
#define DEFLATED_NAME "sorted_v1.kss"
#define BLOCK_BYTES 400

static void make_fixture(sorted_fixture *f, bool random_bytes, uint8_t id)
{
    sorted_fixture_init(f, sorted_test_options(40, id, BLOCK_BYTES),
                        sorted_sample_set(random_bytes));
}

static size_t read_golden(const char *name, uint8_t *data, size_t room)
{
    char path[1024];
    snprintf(path, sizeof path, GOLDEN_DIR "%s", name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t size = fread(data, 1, room, in);
    fclose(in);
    return size;
}

/* What deflating gives may differ between versions of zlib, the rest not. */
static void test_golden(void **state)
{
    (void)state;
    static uint8_t golden[65536];
    sorted_fixture f;
    make_fixture(&f, true, 1);
    size_t size = read_golden(RAW_NAME, golden, sizeof golden);
    assert_int_equal(size, f.file.size_bytes);
    assert_memory_equal(golden, f.file.data, size);
    sorted_fixture_release(&f);
    make_fixture(&f, false, 2);
    size = read_golden(DEFLATED_NAME, golden, sizeof golden);
    byte_file file;
    byte_file_init_with(&file, golden, size);
    assert_int_equal(sorted_check_answers(&f.set, &file.base, 2000, 1), KSV_OK);
    byte_file_release(&file);
    sorted_fixture_release(&f);
}

/* A table that is opened in spite of all, and asked. */
static void test_every_length(void **state)
{
    (void)state;
    sorted_fixture f;
    make_fixture(&f, false, 1);
    size_t whole = f.file.size_bytes;
    for (size_t size = 0; size < whole; size += PACE_STEP) {
        sorted_reader *reader;
        ksv_error error = {0};
        f.file.size_bytes = size;
        assert_int_equal(
            sorted_reader_open(&f.file.base, NULL, &reader, &error),
            KSV_ERROR_CORRUPT);
        assert_null(reader);
        assert_int_equal(error.status, KSV_ERROR_CORRUPT);
    }
    f.file.size_bytes = whole;
    assert_int_equal(f.file.base.ops->append(&f.file.base, "\0", 1, NULL),
                     KSV_OK);
    assert_int_not_equal(sorted_check_answers(&f.set, &f.file.base, 0, 1),
                         KSV_OK);
    sorted_fixture_release(&f);
}

/* The file loses its end after it was opened. */
static void test_cut_under_a_reader(void **state)
{
    (void)state;
    sorted_fixture f;
    make_fixture(&f, false, 1);
    size_t whole = f.file.size_bytes;
    for (size_t size = 0; size < whole; size += 16 + PACE_STEP) {
        sorted_reader *reader;
        sorted_cursor *cursor;
        f.file.size_bytes = whole;
        assert_int_equal(sorted_reader_open(&f.file.base, NULL, &reader, NULL),
                         KSV_OK);
        assert_int_equal(sorted_cursor_open(reader, &cursor, NULL), KSV_OK);
        f.file.size_bytes = size;
        for (size_t i = 0; i < f.set.count; i += 101) {
            ksv_status status =
                sorted_check_find(&f.set, cursor, sorted_key_of(&f.set, i));
            assert_true(status == KSV_OK || status == KSV_ERROR_CORRUPT);
        }
        sorted_cursor_close(cursor);
        sorted_reader_close(reader);
    }
    f.file.size_bytes = whole;
    sorted_fixture_release(&f);
}

static void change_every_byte(bool random_bytes)
{
    sorted_fixture f;
    make_fixture(&f, random_bytes, 1);
    for (size_t i = 0; i < f.file.size_bytes; i += PACE_STEP) {
        uint8_t before = f.file.data[i];
        f.file.data[i] = (uint8_t)(before ^ 1u << i % 8);
        if (sorted_check_answers(&f.set, &f.file.base, 8, i) == KSV_OK)
            fail_msg("byte %zu was changed and nobody saw it", i);
        f.file.data[i] = before;
    }
    assert_int_equal(sorted_check_answers(&f.set, &f.file.base, 8, 1), KSV_OK);
    sorted_fixture_release(&f);
}

static void test_every_byte(void **state)
{
    (void)state;
    change_every_byte(false);
    change_every_byte(true);
}

static size_t block_at(const sorted_fixture *f, size_t at, unsigned *level)
{
    return (size_t)sorted_peek_block(f->file.data + at, level);
}

/* Blocks of one size take each other's place, or that of another table's. */
static void replace_blocks(sorted_fixture *f, const sorted_fixture *from,
                           bool same_place)
{
    size_t end = f->file.size_bytes - SORTED_FOOTER_BYTES;
    size_t replaced = 0;
    unsigned level;
    for (size_t a = SORTED_HEADER_BYTES; a < end; a += block_at(f, a, &level))
        for (size_t b = SORTED_HEADER_BYTES; b < end;
             b += block_at(from, b, &level)) {
            uint8_t kept[8192];
            size_t size = block_at(f, a, &level);
            if ((a == b) != same_place || size != block_at(from, b, &level) ||
                replaced > 300)
                continue;
            assert_true(size <= sizeof kept);
            memcpy(kept, f->file.data + a, size);
            memcpy(f->file.data + a, from->file.data + b, size);
            assert_int_not_equal(
                sorted_check_answers(&f->set, &f->file.base, 60, a), KSV_OK);
            memcpy(f->file.data + a, kept, size);
            replaced++;
        }
    assert_true(replaced > 5);
}

static void test_misplaced_and_foreign_blocks(void **state)
{
    (void)state;
    sorted_fixture f, other;
    make_fixture(&f, true, 1);
    make_fixture(&other, true, 2);
    replace_blocks(&f, &f, false);
    replace_blocks(&f, &other, true);
    sorted_fixture_release(&f);
    sorted_fixture_release(&other);
}

static void test_later_version(void **state)
{
    (void)state;
    sorted_fixture f;
    make_fixture(&f, true, 1);
    sorted_reader *reader;
    ksv_error error;
    f.file.data[8] = 2;
    assert_int_equal(sorted_reader_open(&f.file.base, NULL, &reader, &error),
                     KSV_ERROR_VERSION);
    assert_non_null(strstr(error.text, "format 2"));
    f.file.data[8] = 1;
    f.file.data[12] = 1; /* a feature */
    sorted_reseal(f.file.data, f.file.size_bytes);
    assert_int_equal(sorted_reader_open(&f.file.base, NULL, &reader, &error),
                     KSV_ERROR_VERSION);
    sorted_fixture_release(&f);
}

/* No memory is asked for what a footer or block merely says. */
static void test_lies_with_right_checksums(void **state)
{
    (void)state;
    sorted_fixture f;
    make_fixture(&f, false, 1);
    size_t footer = f.file.size_bytes - SORTED_FOOTER_BYTES;
    size_t first = SORTED_HEADER_BYTES;
    const size_t places[] = {first + 16,  first + 20,  first + 24,  first + 28,
                             footer + 4,  footer + 8,  footer + 40, footer + 48,
                             footer + 64, footer + 72, footer + 76};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (unsigned byte = 0; byte < 4; byte++) {
            uint8_t *p = f.file.data + places[i] + byte;
            if (places[i] == first + 28 && byte > 2)
                continue;
            *p ^= 0x70;
            sorted_reseal(f.file.data, f.file.size_bytes);
            ksv_status status =
                sorted_check_answers(&f.set, &f.file.base, 20, i);
            assert_true(status == KSV_ERROR_CORRUPT);
            *p ^= 0x70;
        }
    sorted_reseal(f.file.data, f.file.size_bytes);
    assert_int_equal(sorted_check_answers(&f.set, &f.file.base, 20, 1), KSV_OK);
    sorted_fixture_release(&f);
}

static int write_golden(const char *directory)
{
    static const char *const names[] = {RAW_NAME, DEFLATED_NAME};
    bool written = true;
    for (int i = 0; i < 2; i++) {
        char path[1024];
        sorted_fixture f;
        make_fixture(&f, i == 0, (uint8_t)(i + 1));
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        FILE *out = fopen(path, "wb");
        written =
            written && out != NULL &&
            fwrite(f.file.data, 1, f.file.size_bytes, out) == f.file.size_bytes;
        if (out != NULL && fclose(out) != 0)
            written = false;
        sorted_fixture_release(&f);
    }
    return written ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return write_golden(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_cut_under_a_reader),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_misplaced_and_foreign_blocks),
        cmocka_unit_test(test_later_version),
        cmocka_unit_test(test_lies_with_right_checksums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
