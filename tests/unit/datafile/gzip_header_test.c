/* SPDX-License-Identifier: MIT */
/* Headers of gzip members: all fields, BGZF's, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "datafile/crc32.h"
#include "datafile/gzip_header.h"

typedef struct bytes {
    uint8_t data[70000];
    size_t size;
} bytes;

static bytes built;

static void put(const void *data, size_t size)
{
    memcpy(built.data + built.size, data, size);
    built.size += size;
}

static void begin(unsigned flags)
{
    const uint8_t fixed[10] = {0x1f, 0x8b, 8, (uint8_t)flags, 9, 9, 9, 9, 2, 3};
    built.size = 0;
    put(fixed, sizeof fixed);
}

static void put_extra(const void *data, size_t size)
{
    uint8_t length[2];
    store_u16(length, (uint16_t)size);
    put(length, 2);
    put(data, size);
}

static void put_checksum(void)
{
    uint8_t sum[2];
    store_u16(sum, (uint16_t)crc32_update(0, built.data, built.size));
    put(sum, 2);
}

/* The header that is built, with a byte after it, read in pieces. */
static gzip_header read_in_pieces(size_t piece)
{
    gzip_header h;
    gzip_header_begin(&h);
    size_t used = 0;
    while (used < built.size + 1 && h.state < GZIP_HEADER_COMPLETE) {
        size_t size = built.size + 1 - used;
        size = size < piece ? size : piece;
        const size_t n = gzip_header_push(&h, built.data + used, size);
        used += n;
        assert_true(n == size || h.state >= GZIP_HEADER_COMPLETE);
    }
    if (h.state == GZIP_HEADER_COMPLETE)
        assert_int_equal(used, built.size);
    return h;
}

/* In pieces of 1, 3 and all bytes: it is complete. */
static gzip_header read_good(void)
{
    (void)read_in_pieces(1);
    const gzip_header h = read_in_pieces(3);
    assert_int_equal(h.state, GZIP_HEADER_COMPLETE);
    const gzip_header whole = read_in_pieces(SIZE_MAX);
    assert_int_equal(whole.state, GZIP_HEADER_COMPLETE);
    assert_int_equal(whole.bgzf_block_bytes, h.bgzf_block_bytes);
    return whole;
}

static void check_bad(const char *problem)
{
    const gzip_header h = read_in_pieces(2);
    assert_int_equal(h.state, GZIP_HEADER_BAD);
    assert_non_null(strstr(h.problem, problem));
}

static void test_all_fields(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < 32; flags++) {
        begin(flags);
        if ((flags & 4) != 0)
            put_extra("AB\2\0xyCD\0\0", 10);
        if ((flags & 8) != 0)
            put("a name", 7);
        if ((flags & 16) != 0)
            put("a comment", 10);
        if ((flags & 2) != 0)
            put_checksum();
        assert_int_equal(read_good().bgzf_block_bytes, 0);
    }
}

static void test_long_fields(void **state)
{
    (void)state;
    static const uint8_t zeros[65535];
    begin(4 | 8);
    put_extra(zeros, 65535);
    put("n", 2);
    (void)read_good();
    begin(8);
    memset(built.data + built.size, 'n', 60000);
    built.size += 60000;
    put("", 1);
    (void)read_good();
    begin(4);
    put_extra("", 0);
    (void)read_good();
}

static void test_bgzf(void **state)
{
    (void)state;
    begin(4);
    put_extra("BC\2\0\x1b\0", 6);
    assert_int_equal(read_good().bgzf_block_bytes, 28);
    begin(4);
    put_extra("RA\3\0abcBC\2\0\xff\xff", 13);
    assert_int_equal(read_good().bgzf_block_bytes, 65536);
    begin(4);
    put_extra("BC\2\0\1\2RA\0\0", 10);
    assert_int_equal(read_good().bgzf_block_bytes, 0x202);
}

static void test_not_bgzf(void **state)
{
    (void)state;
    begin(4);
    put_extra("BC\3\0\1\2\3", 7);
    assert_int_equal(read_good().bgzf_block_bytes, 0);
    begin(4);
    put_extra("RA\6\0BC\2\0\1\2", 10);
    assert_int_equal(read_good().bgzf_block_bytes, 0);
    /* The subfield goes on past the field. */
    begin(4);
    put_extra("BC\2\0\1", 5);
    assert_int_equal(read_good().bgzf_block_bytes, 0);
}

static void test_refused(void **state)
{
    (void)state;
    begin(0);
    built.data[2] = 7;
    check_bad("unknown method");
    for (unsigned bit = 5; bit < 8; bit++) {
        begin(1u << bit);
        check_bad("reserved flags");
    }
    begin(0);
    built.data[1] = 0x8c;
    check_bad("does not begin");
    begin(2 | 8);
    put("name", 5);
    put_checksum();
    built.data[12] ^= 1;
    check_bad("checksum");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_fields), cmocka_unit_test(test_long_fields),
        cmocka_unit_test(test_bgzf),       cmocka_unit_test(test_not_bgzf),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
