/* SPDX-License-Identifier: MIT */
/* Header, footer and fence pages: what is written is read, what is wrong is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "hash/hash.h"
#include "support/table_fixture.h"
#include "table/table_format.h"

static uint8_t header[TABLE_HEADER_BYTES];
static uint8_t footer[TABLE_FOOTER_BYTES];

static ksv_status decode_header(ksv_table_options *options, ksv_error *error)
{
    store_u32(header + TABLE_HEADER_BYTES - 4,
              hash_checksum32(header, TABLE_HEADER_BYTES - 4));
    return table_decode_header(header, sizeof header, options, error);
}

static void test_header_round_trip(void **state)
{
    (void)state;
    ksv_table_options in = table_options(44, 33, 9);
    ksv_table_options out;
    in.hasher.kind = KSV_HASH_SIPHASH;
    table_encode_header(&in, header);
    assert_int_equal(table_decode_header(header, sizeof header, &out, NULL),
                     KSV_OK);
    assert_int_equal(out.hash_bits, 44);
    assert_int_equal(out.payload_bits, 33);
    assert_int_equal(out.hasher.kind, KSV_HASH_SIPHASH);
    assert_memory_equal(out.hasher.key, in.hasher.key, 16);
    assert_memory_equal(out.id, in.id, 16);
}

static void test_header_refuses(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint8_t value;
        ksv_status status;
    } cases[] = {{0, 'k', KSV_ERROR_CORRUPT},  {8, 0, KSV_ERROR_CORRUPT},
                 {9, 1, KSV_ERROR_VERSION},    {12, 1, KSV_ERROR_VERSION},
                 {15, 128, KSV_ERROR_VERSION}, {16, 0, KSV_ERROR_CORRUPT},
                 {16, 3, KSV_ERROR_CORRUPT},   {17, 35, KSV_ERROR_CORRUPT},
                 {17, 65, KSV_ERROR_CORRUPT},  {18, 0, KSV_ERROR_CORRUPT},
                 {18, 58, KSV_ERROR_CORRUPT}};
    ksv_table_options options = table_options(40, 30, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        table_encode_header(&options, header);
        header[cases[i].offset] = cases[i].value;
        ksv_table_options out;
        ksv_error error = {0};
        assert_int_equal(decode_header(&out, &error), cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_true(error.text[0] != '\0');
    }
}

static void test_later_version_is_named_before_all_else(void **state)
{
    (void)state;
    ksv_table_options options = table_options(40, 30, 1);
    ksv_error error;
    table_encode_header(&options, header);
    store_u16(header + 8, 7);
    header[100] = 1; /* the checksum is wrong as well */
    assert_int_equal(table_decode_header(header, 10, &options, &error),
                     KSV_ERROR_VERSION);
    assert_non_null(strstr(error.text, "format 7"));
    assert_int_equal(
        table_decode_header(header, sizeof header, &options, &error),
        KSV_ERROR_VERSION);
    assert_int_equal(table_decode_header(header, 9, &options, &error),
                     KSV_ERROR_CORRUPT);
}

static table_meta some_meta(void)
{
    table_meta meta = {.info = {.options = table_options(40, 30, 3),
                                .entries = 5000,
                                .distinct_hashes = 4900,
                                .longest_run = 101,
                                .pages = 2000,
                                .file_bytes = table_file_bytes(2000)},
                       .fence_pages = 2,
                       .first_hash = UINT64_C(1) << 24,
                       .last_hash = UINT64_C(9) << 24};
    return meta;
}

static ksv_status decode_footer(uint64_t file_bytes)
{
    table_meta out = {.info.options = table_options(40, 30, 3)};
    ksv_error error = {0};
    store_u32(footer, hash_checksum32(footer + 4, TABLE_FOOTER_BYTES - 4));
    ksv_status status = table_decode_footer(footer, file_bytes, &out, &error);
    assert_int_equal(error.status, status);
    return status;
}

static void test_footer_round_trip(void **state)
{
    (void)state;
    table_meta in = some_meta();
    table_meta out = {.info.options = in.info.options};
    table_encode_footer(&in, footer);
    assert_int_equal(
        table_decode_footer(footer, in.info.file_bytes, &out, NULL), KSV_OK);
    assert_true(out.info.entries == 5000);
    assert_true(out.info.distinct_hashes == 4900);
    assert_true(out.info.longest_run == 101);
    assert_true(out.info.pages == 2000);
    assert_true(out.info.file_bytes == in.info.file_bytes);
    assert_true(out.fence_pages == 2);
    assert_true(out.first_hash == in.first_hash);
    assert_true(out.last_hash == in.last_hash);
    assert_true(out.tag == table_tag_of_id(in.info.options.id));
}

static void test_footer_refuses(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint64_t value;
    } cases[] = {
        {8, 1999},        /* fewer entries than pages */
        {8, 2000 * 1049}, /* more than pages can hold */
        {16, 0},          /* no hash */
        {16, 5001},       /* more hashes than entries */
        {24, 2001},       /* pages against the size */
        {24, UINT64_MAX / 4096},
        {24, UINT64_C(1) << 52},
        {32, 1},   /* fence pages */
        {40, 0},   /* no run */
        {40, 102}, /* a run too long for the others */
        {48, 1},   /* a hash with too many bits */
        {48, UINT64_C(10) << 24},
        {56, (UINT64_C(9) << 24) + 1},
        {64, 4096},
        {72, 0},  /* another id */
        {120, 0}, /* no magic */
    };
    table_meta meta = some_meta();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        table_encode_footer(&meta, footer);
        store_u64(footer + cases[i].offset, cases[i].value);
        assert_int_equal(decode_footer(meta.info.file_bytes),
                         KSV_ERROR_CORRUPT);
    }
    table_encode_footer(&meta, footer);
    assert_int_equal(decode_footer(meta.info.file_bytes), KSV_OK);
    assert_int_equal(decode_footer(meta.info.file_bytes + 4096),
                     KSV_ERROR_CORRUPT);
}

static void test_fence_page(void **state)
{
    (void)state;
    uint8_t page[TABLE_PAGE_BYTES];
    uint32_t in[TABLE_FENCES_PER_PAGE], out[TABLE_FENCES_PER_PAGE];
    const size_t count = TABLE_FENCES_PER_PAGE;
    for (uint32_t i = 0; i < TABLE_FENCES_PER_PAGE; i++)
        in[i] = i * 4211081;
    table_encode_fence_page(in, count, 3, 77, page);
    assert_int_equal(table_decode_fence_page(page, 3, 77, 0, out, count, NULL),
                     KSV_OK);
    assert_memory_equal(in, out, sizeof in);
    assert_int_equal(table_decode_fence_page(page, 4, 77, 0, out, count, NULL),
                     KSV_ERROR_CORRUPT);
    assert_int_equal(table_decode_fence_page(page, 3, 78, 0, out, count, NULL),
                     KSV_ERROR_CORRUPT);
    page[4095] ^= 1;
    ksv_error error;
    assert_int_equal(
        table_decode_fence_page(page, 3, 77, 512, out, count, &error),
        KSV_ERROR_CORRUPT);
    assert_true(error.byte_offset == 512);
    in[500] = in[499] - 1;
    table_encode_fence_page(in, count, 3, 77, page);
    assert_int_equal(table_decode_fence_page(page, 3, 77, 0, out, count, NULL),
                     KSV_ERROR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_round_trip),
        cmocka_unit_test(test_header_refuses),
        cmocka_unit_test(test_later_version_is_named_before_all_else),
        cmocka_unit_test(test_footer_round_trip),
        cmocka_unit_test(test_footer_refuses),
        cmocka_unit_test(test_fence_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
