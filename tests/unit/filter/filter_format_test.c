/* SPDX-License-Identifier: MIT */
/* Layout of filter files, and the codec of header, footer and checksums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "filter/filter_format.h"
#include "hash/hash.h"
#include "support/filter_support.h"

static void test_layout(void **state)
{
    (void)state;
    filter_layout one = filter_layout_of(1);
    assert_true(one.body_offset == 128 && one.body_bytes == 64);
    assert_true(one.pages == 1 && one.checksum_pages == 1);
    assert_true(one.file_bytes == 128 + 64 + 32 + 4 + 64);
    assert_int_equal(filter_page_bytes(&one, 0), 64);
    assert_int_equal(filter_checksum_page_bytes(&one, 0), 36);

    assert_true(filter_layout_of(1024).body_offset == 128);
    assert_true(filter_layout_of(1025).body_offset == 4096);

    uint64_t blocks = 1017 * 64 + 5;
    filter_layout big = filter_layout_of(blocks);
    assert_true(big.pages == 1018 && big.checksum_pages == 2);
    assert_int_equal(filter_page_bytes(&big, 1016), 4096);
    assert_int_equal(filter_page_bytes(&big, 1017), 5 * 64);
    assert_int_equal(filter_checksum_page_bytes(&big, 0), 4096);
    assert_int_equal(filter_checksum_page_bytes(&big, 1), 32 + 2 * 4);
    assert_true(big.checksums_offset == 4096 + blocks * 64);
    assert_true(big.footer_offset == big.checksums_offset + 4096 + 40);
    assert_true(filter_layout_of(FILTER_MAX_BLOCKS).file_bytes >
                FILTER_MAX_BLOCKS * 64);
}

static void test_header_round_trip(void **state)
{
    (void)state;
    static const uint64_t keys[] = {10, 100000};
    for (size_t i = 0; i < 2; i++) {
        ksv_filter_options o = test_filter_options(keys[i], 0.01, 44, 7);
        o.hasher.kind = KSV_HASH_SIPHASH;
        uint8_t header[FILTER_PAGE_BYTES];
        filter_header_encode(&o, header);
        filter_layout layout = filter_layout_of(o.plan.blocks);
        ksv_filter_options back;
        assert_int_equal(filter_header_decode(header,
                                              (size_t)layout.body_offset,
                                              layout.file_bytes, &back, NULL),
                         KSV_OK);
        assert_true(back.plan.blocks == o.plan.blocks);
        assert_true(back.plan.bits == o.plan.bits);
        assert_true(back.plan.file_bytes == o.plan.file_bytes);
        assert_true(back.plan.fpr == o.plan.fpr);
        assert_int_equal(back.plan.hash_functions, o.plan.hash_functions);
        assert_int_equal(back.hash_bits, 44);
        assert_int_equal(back.hasher.kind, KSV_HASH_SIPHASH);
        assert_memory_equal(back.hasher.key, o.hasher.key, 16);
        assert_memory_equal(back.id, o.id, 16);
    }
}

/* Decodes a header after `size` bytes at `offset` were replaced and its
 * checksum was made right again. */
static ksv_status decode_changed(size_t offset, uint64_t value, size_t size,
                                 ksv_error *error)
{
    ksv_filter_options o = test_filter_options(10, 0.01, 44, 7);
    uint8_t header[FILTER_HEADER_BYTES];
    filter_header_encode(&o, header);
    for (size_t i = 0; i < size; i++)
        header[offset + i] = (uint8_t)(value >> 8 * i);
    store_u64(header + 120, hash_checksum64(header, 120));
    return filter_header_decode(header, sizeof header, o.plan.file_bytes, &o,
                                error);
}

static void test_header_fields_are_checked(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint64_t value;
        size_t size;
        ksv_status status;
    } cases[] = {
        {50, 1, 1, KSV_OK},
        {50, 16, 1, KSV_OK},
        {0, 'X', 1, KSV_ERROR_CORRUPT}, /* magic */
        {8, 0, 2, KSV_ERROR_CORRUPT},   /* version */
        {8, 2, 2, KSV_ERROR_VERSION},
        {10, 1, 1, KSV_ERROR_CORRUPT}, /* reserved */
        {12, 1, 4, KSV_OK},            /* features: standalone */
        {12, 2, 4, KSV_ERROR_CORRUPT}, /* classic without bits */
        {12, 4, 4, KSV_ERROR_VERSION},
        {15, 0x80, 1, KSV_ERROR_VERSION},
        {48, 0, 1, KSV_ERROR_CORRUPT}, /* hash kind */
        {48, 3, 1, KSV_ERROR_CORRUPT},
        {49, 31, 1, KSV_ERROR_CORRUPT}, /* hash bits */
        {49, 65, 1, KSV_ERROR_CORRUPT},
        {50, 0, 1, KSV_ERROR_CORRUPT}, /* functions */
        {50, 17, 1, KSV_ERROR_CORRUPT},
        {51, 1, 1, KSV_ERROR_CORRUPT},    /* reserved */
        {52, 4096, 4, KSV_ERROR_CORRUPT}, /* body offset */
        {56, 0, 8, KSV_ERROR_CORRUPT},    /* blocks */
        {56, 2, 8, KSV_ERROR_CORRUPT},
        {56, UINT64_MAX, 8, KSV_ERROR_CORRUPT},
        {56, (UINT64_C(1) << 58) + 1, 8, KSV_ERROR_CORRUPT},
        {64, UINT64_MAX, 8, KSV_ERROR_CORRUPT}, /* rate: not a number */
        {72, 1, 1, KSV_ERROR_CORRUPT},          /* reserved */
        {119, 1, 1, KSV_ERROR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ksv_error error = {0};
        ksv_status got = decode_changed(cases[i].offset, cases[i].value,
                                        cases[i].size, &error);
        if (got != cases[i].status)
            fail_msg("offset %zu: status %d, %s", cases[i].offset, got,
                     error.text);
    }
}

/* Whatever else a later version changes. */
static void test_version_comes_first(void **state)
{
    (void)state;
    uint8_t data[10] = FILTER_MAGIC;
    data[8] = data[9] = 0xff;
    ksv_filter_options o;
    ksv_error error;
    assert_int_equal(filter_header_decode(data, 10, 10, &o, &error),
                     KSV_ERROR_VERSION);
    assert_string_equal(error.text,
                        "format version 65535, this keysieve reads up to 1");
    assert_int_equal(filter_header_decode(data, 9, 9, &o, &error),
                     KSV_ERROR_CORRUPT);
}

static void test_footer(void **state)
{
    (void)state;
    ksv_filter_options o = test_filter_options(10, 0.01, 44, 7);
    uint8_t footer[FILTER_FOOTER_BYTES];
    filter_footer_encode(&o, 12345, footer);
    uint64_t keys = 0;
    assert_int_equal(filter_footer_decode(footer, &o, &keys, NULL), KSV_OK);
    assert_true(keys == 12345);
    for (size_t i = 0; i < sizeof footer; i++) {
        footer[i] ^= 0x10;
        assert_int_equal(filter_footer_decode(footer, &o, &keys, NULL),
                         KSV_ERROR_CORRUPT);
        footer[i] ^= 0x10;
    }
    ksv_filter_options other = o;
    other.id[15] ^= 1;
    assert_int_equal(filter_footer_decode(footer, &other, &keys, NULL),
                     KSV_ERROR_CORRUPT);
    other = o;
    other.plan.blocks++;
    assert_int_equal(filter_footer_decode(footer, &other, &keys, NULL),
                     KSV_ERROR_CORRUPT);
}

static void test_page_checksums_depend_on_place_and_filter(void **state)
{
    (void)state;
    uint8_t page[FILTER_PAGE_BYTES] = {1, 2, 3};
    uint8_t id[16] = {9};
    uint32_t checksum = filter_page_checksum(id, 5, page, sizeof page);
    assert_true(checksum == filter_page_checksum(id, 5, page, sizeof page));
    assert_true(checksum != filter_page_checksum(id, 6, page, sizeof page));
    assert_true(checksum != filter_page_checksum(id, 5, page, 64));
    id[15] = 1;
    assert_true(checksum != filter_page_checksum(id, 5, page, sizeof page));
}

static void test_checksum_pages_know_their_place(void **state)
{
    (void)state;
    uint8_t page[FILTER_PAGE_BYTES] = {0};
    uint8_t id[16] = {9};
    size_t size = 32 + 3 * 4;
    memset(page + 32, 0xee, 12);
    filter_checksum_page_seal(id, 4, page, size);
    assert_int_equal(filter_checksum_page_check(id, 4, page, size, 0, NULL),
                     KSV_OK);
    ksv_error error;
    assert_int_equal(filter_checksum_page_check(id, 3, page, size, 777, &error),
                     KSV_ERROR_CORRUPT);
    assert_true(error.byte_offset == 777);
    uint8_t other[16] = {8};
    assert_int_equal(filter_checksum_page_check(other, 4, page, size, 0, NULL),
                     KSV_ERROR_CORRUPT);
    for (size_t i = 0; i < size; i++) {
        page[i] ^= 1;
        assert_int_equal(filter_checksum_page_check(id, 4, page, size, 0, NULL),
                         KSV_ERROR_CORRUPT);
        page[i] ^= 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_header_round_trip),
        cmocka_unit_test(test_header_fields_are_checked),
        cmocka_unit_test(test_version_comes_first),
        cmocka_unit_test(test_footer),
        cmocka_unit_test(test_page_checksums_depend_on_place_and_filter),
        cmocka_unit_test(test_checksum_pages_know_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
