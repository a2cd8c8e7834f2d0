/* SPDX-License-Identifier: MIT */
/* What a pass over compressed data accepts, warns of and refuses, and how. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/gzip_data.h"

static const char ROWS[] = "id,v\nk1,value 01\nk2,value 02\nk3,value 03\n";
#define ROWS_BYTES (sizeof ROWS - 1)

typedef struct fixture {
    ksv_file_system fs;
    gzip_bytes file;
    gzip_bytes expected;
    gzip_pass pass;
    gzip_how how;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    f.how = gzip_how_usual();
    assert_int_equal(memory_file_system_open(NULL, &f.fs, NULL), KSV_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    gzip_bytes_release(&f->file);
    gzip_bytes_release(&f->expected);
    gzip_bytes_release(&f->pass.content);
    memory_file_system_close(&f->fs);
    return 0;
}

static void add_rows(fixture *f)
{
    gzip_member_add(&f->file, ROWS, ROWS_BYTES, &f->how, NULL, 0);
    gzip_bytes_add(&f->expected, ROWS, ROWS_BYTES);
}

static void add_text(fixture *f, size_t size_bytes)
{
    random_source random = {size_bytes};
    const size_t begin = f->expected.size;
    gzip_content_add(&f->expected, GZIP_CONTENT_TEXT, size_bytes, &random);
    gzip_member_add(&f->file, f->expected.data + begin, size_bytes, &f->how,
                    NULL, 0);
}

static void add_empty(fixture *f)
{
    gzip_member_add(&f->file, NULL, 0, &f->how, NULL, 0);
}

static void run(fixture *f, unsigned threads)
{
    f->pass.threads = threads;
    gzip_file_write(&f->fs, "data", f->file.data, f->file.size);
    gzip_pass_run(&f->pass, &f->fs, "data", NULL);
}

/* By one thread and by several. */
static void check_content(fixture *f, datafile_kind kind)
{
    for (unsigned threads = 1; threads < 4; threads++) {
        run(f, threads);
        assert_int_equal(f->pass.status, KSV_OK);
        assert_int_equal(f->pass.kind, kind);
        assert_int_equal(f->pass.content.size, f->expected.size);
        if (f->expected.size != 0)
            assert_memory_equal(f->pass.content.data, f->expected.data,
                                f->expected.size);
    }
}

/* The status, where, and words of the text. */
static void check_refused(fixture *f, ksv_status status, uint64_t offset,
                          const char *first, const char *second)
{
    for (unsigned threads = 1; threads < 4; threads++) {
        run(f, threads);
        assert_int_equal(f->pass.status, status);
        assert_true(f->pass.error.byte_offset == offset);
        assert_string_equal(f->pass.error.path, "data");
        if (strstr(f->pass.error.text, first) == NULL ||
            strstr(f->pass.error.text, second) == NULL)
            fail_msg("unexpected: %s", f->pass.error.text);
    }
}

static void test_members(void **state)
{
    fixture *f = *state;
    add_empty(f);
    add_rows(f);
    add_empty(f);
    add_empty(f);
    add_rows(f);
    f->how.header_flags = 2 | 8 | 16;
    add_rows(f);
    add_empty(f);
    check_content(f, DATAFILE_GZIP);
    assert_int_equal(f->pass.warnings, 0);
}

static void test_nothing_in_it(void **state)
{
    fixture *f = *state;
    add_empty(f);
    check_content(f, DATAFILE_GZIP);
    f->file.size = 0;
    check_content(f, DATAFILE_PLAIN);
}

static void test_plain_stays_plain(void **state)
{
    fixture *f = *state;
    gzip_bytes_add(&f->file, "\x1f", 1);
    gzip_bytes_add(&f->expected, "\x1f", 1);
    check_content(f, DATAFILE_PLAIN);
    gzip_bytes_add(&f->file, ROWS, ROWS_BYTES);
    gzip_bytes_add(&f->expected, ROWS, ROWS_BYTES);
    check_content(f, DATAFILE_PLAIN);
}

static void test_zeros_between_and_after(void **state)
{
    fixture *f = *state;
    static const uint8_t zeros[300000];
    add_rows(f);
    gzip_bytes_add(&f->file, zeros, 1);
    add_rows(f);
    gzip_bytes_add(&f->file, zeros, 512);
    add_rows(f);
    gzip_bytes_add(&f->file, zeros, sizeof zeros);
    check_content(f, DATAFILE_GZIP);
}

static void test_magic_in_stored_data(void **state)
{
    fixture *f = *state;
    f->how.level = 0;
    static const char inside[] = "x,\x1f\x8b\x08\0\0\0\0\0\0\xff,\n";
    gzip_member_add(&f->file, inside, sizeof inside - 1, &f->how, NULL, 0);
    gzip_bytes_add(&f->expected, inside, sizeof inside - 1);
    check_content(f, DATAFILE_GZIP);
}

static void test_garbage(void **state)
{
    fixture *f = *state;
    add_rows(f);
    const size_t end = f->file.size;
    gzip_bytes_add(&f->file, "\0\0this is not gzip", 18);
    check_refused(f, KSV_ERROR_DATA, end + 2, "is not gzip",
                  "--trailing-garbage ignore");
    f->pass.ignore_trailing_garbage = true;
    check_content(f, DATAFILE_GZIP);
    assert_int_equal(f->pass.warnings, DATAFILE_GARBAGE_IGNORED);
    f->file.size = end;
    gzip_bytes_add(&f->file, "\x1f\x8c\x08", 3);
    check_content(f, DATAFILE_GZIP);
    assert_int_equal(f->pass.warnings, DATAFILE_GARBAGE_IGNORED);
    f->pass.ignore_trailing_garbage = false;
    check_refused(f, KSV_ERROR_DATA, end, "is not gzip", "compressed byte");
}

static void test_bad_later_member(void **state)
{
    fixture *f = *state;
    add_rows(f);
    const size_t end = f->file.size;
    add_rows(f);
    f->file.data[end + 2] = 9;
    check_refused(f, KSV_ERROR_DATA, end, "gzip member at compressed byte",
                  "unknown method");
    f->file.data[end + 2] = 8;
    f->file.data[end + 3] = 0x40;
    check_refused(f, KSV_ERROR_DATA, end, "gzip member at compressed byte",
                  "reserved flags");
}

static void test_wrong_trailer(void **state)
{
    fixture *f = *state;
    add_rows(f);
    const size_t end = f->file.size;
    add_rows(f);
    f->file.data[f->file.size - 8] ^= 1;
    check_refused(f, KSV_ERROR_DATA, end, "checksum", "gzip member");
    f->file.data[f->file.size - 8] ^= 1;
    f->file.data[f->file.size - 1] ^= 1;
    check_refused(f, KSV_ERROR_DATA, end, "length", "gzip member");
}

/* Every length that is none of whole members is truncated, and says where. */
static void test_truncated(void **state)
{
    fixture *f = *state;
    f->how.header_flags = 2 | 8;
    add_rows(f);
    const size_t first = f->file.size;
    add_rows(f);
    const size_t whole = f->file.size;
    for (size_t size = 2; size < whole; size++) {
        f->file.size = size;
        if (size == first)
            continue;
        const uint64_t member = size < first ? 0 : first;
        const size_t in_member = size - (size_t)member;
        const char *where = "the compressed data";
        if (in_member < 10 + 9 + 2)
            where = "the gzip header";
        else if (in_member >= first - 8)
            where = "the checksum and length at its end";
        check_refused(f, KSV_ERROR_DATA, member, "truncated", where);
    }
}

static void test_compressed_twice(void **state)
{
    fixture *f = *state;
    add_rows(f);
    gzip_bytes outer = {0};
    gzip_member_add(&outer, f->file.data, f->file.size, &f->how, NULL, 0);
    f->file.size = 0;
    gzip_bytes_add(&f->file, outer.data, outer.size);
    check_refused(f, KSV_ERROR_UNSUPPORTED, KSV_NO_OFFSET, "itself gzip",
                  "compressed twice");
    f->file.size = 0;
    gzip_bgzf_add(&f->file, outer.data, outer.size, 30000, &f->how);
    check_refused(f, KSV_ERROR_UNSUPPORTED, KSV_NO_OFFSET, "itself gzip",
                  "compressed twice");
    f->file.size = 0;
    gzip_member_add(&f->file, "\x28\xb5\x2f\xfd 12345678", 13, &f->how, NULL,
                    0);
    check_refused(f, KSV_ERROR_UNSUPPORTED, KSV_NO_OFFSET, "itself compressed",
                  "zstd");
    gzip_bytes_release(&outer);
}

static void add_blocks(fixture *f, size_t size_bytes, size_t block_bytes)
{
    random_source random = {size_bytes};
    const size_t begin = f->expected.size;
    gzip_content_add(&f->expected, GZIP_CONTENT_TEXT, size_bytes, &random);
    gzip_bgzf_add(&f->file, f->expected.data + begin, size_bytes, block_bytes,
                  &f->how);
}

static void test_bgzf(void **state)
{
    fixture *f = *state;
    add_blocks(f, 2500000, 65280);
    add_blocks(f, 5000, 7);
    gzip_bgzf_marker_add(&f->file);
    check_content(f, DATAFILE_BGZF);
    assert_int_equal(f->pass.warnings, 0);
}

static void test_bgzf_without_marker(void **state)
{
    fixture *f = *state;
    add_blocks(f, 300000, 65280);
    check_content(f, DATAFILE_BGZF);
    assert_int_equal(f->pass.warnings, DATAFILE_NO_END_MARKER);
}

static void test_bgzf_truncated(void **state)
{
    fixture *f = *state;
    add_blocks(f, 1000000, 65280);
    const size_t last = f->file.size;
    add_blocks(f, 60000, 60000);
    const size_t whole = f->file.size;
    for (size_t size = last + 1; size < whole; size += 1 + (whole - last) / 9) {
        f->file.size = size;
        check_refused(f, KSV_ERROR_DATA, last, "BGZF block", "truncated");
    }
}

static void test_bgzf_damaged(void **state)
{
    fixture *f = *state;
    add_blocks(f, 600000, 65280);
    const size_t block = f->file.size;
    add_blocks(f, 60000, 60000);
    f->file.data[f->file.size - 8] ^= 1;
    add_blocks(f, 600000, 65280);
    check_refused(f, KSV_ERROR_DATA, block, "BGZF block", "checksum");
}

/* Members of another kind among the blocks, blocks with a wrong size field. */
static void test_bgzf_with_others(void **state)
{
    fixture *f = *state;
    add_blocks(f, 400000, 65280);
    add_rows(f);
    const size_t block = f->file.size;
    add_blocks(f, 50000, 60000);
    f->file.data[block + 16] ^= 1;
    add_blocks(f, 400000, 65280);
    gzip_bytes_add(&f->file, "\0\0\0", 3);
    gzip_bgzf_marker_add(&f->file);
    check_content(f, DATAFILE_BGZF);
}

/* Whatever fails, there is a status, and nothing stays behind. */
static void check_faults(fixture *f)
{
    gzip_file_write(&f->fs, "data", f->file.data, f->file.size);
    f->pass.spacing_bytes = 40000;
    f->pass.points_path = "data.ksz";
    for (unsigned threads = 1; threads <= 2; threads++) {
        f->pass.threads = threads;
        size_t fail_at = 0;
        size_t calls;
        do {
            fault_allocator allocator;
            fault_allocator_init(&allocator, ++fail_at);
            gzip_pass_run(&f->pass, &f->fs, "data", &allocator.allocator);
            calls = allocator.calls;
            assert_true(f->pass.status == KSV_OK ||
                        f->pass.status == KSV_ERROR_MEMORY);
            if (f->pass.status == KSV_OK) {
                assert_int_equal(f->pass.content.size, f->expected.size);
                assert_memory_equal(f->pass.content.data, f->expected.data,
                                    f->expected.size);
            }
            assert_true(fault_allocator_is_clean(&allocator));
        } while (fail_at <= calls);
        assert_true(fail_at > 8);
    }
}

static void test_faults(void **state)
{
    fixture *f = *state;
    add_text(f, 300000);
    add_rows(f);
    check_faults(f);
}

static void test_bgzf_faults(void **state)
{
    fixture *f = *state;
    add_blocks(f, 200000, 30000);
    add_rows(f);
    check_faults(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_members),
        TEST(test_nothing_in_it),
        TEST(test_plain_stays_plain),
        TEST(test_zeros_between_and_after),
        TEST(test_magic_in_stored_data),
        TEST(test_garbage),
        TEST(test_bad_later_member),
        TEST(test_wrong_trailer),
        TEST(test_truncated),
        TEST(test_compressed_twice),
        TEST(test_bgzf),
        TEST(test_bgzf_without_marker),
        TEST(test_bgzf_truncated),
        TEST(test_bgzf_damaged),
        TEST(test_bgzf_with_others),
        TEST(test_faults),
        TEST(test_bgzf_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
