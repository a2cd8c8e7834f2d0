/* SPDX-License-Identifier: MIT */
/* Pages: finding, decoding, and headers that lie under a right checksum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "hash/hash.h"
#include "support/random.h"
#include "table/page_builder.h"

#define COUNT 300

static const page_context context = {40, 30, 0x1122334455667788};
static uint64_t xs[COUNT];
static uint8_t page[PAGE_BUFFER_BYTES];

static void push(page_builder *b, uint64_t x, uint64_t payload)
{
    size_t room;
    hash_entry *to = page_builder_room(b, &room);
    assert_true(room > 0);
    *to = (hash_entry){x << (64 - b->context.hash_bits), payload};
    b->count++;
}

static void make_page(uint64_t seed)
{
    ksv_allocator a = allocator_or_default(NULL);
    random_source random = {seed};
    page_builder b;
    assert_int_equal(page_builder_init(&b, &context, &a, NULL), KSV_OK);
    uint64_t x = random_next(&random) >> 30;
    for (size_t i = 0; i < COUNT; i++) {
        xs[i] = x;
        push(&b, x, i);
        x += random_below(&random, 3) * random_below(&random, 2000000);
    }
    memset(page, 0xa5, sizeof page);
    page_builder_cut(&b, 7, page);
    page_builder_release(&b, &a);
}

static void seal(void)
{
    store_u32(page, hash_checksum32(page + 4, TABLE_PAGE_BYTES - 4));
}

static void check_find(const page_view *view, uint64_t x)
{
    size_t before = 0, equal = 0, first, count;
    for (size_t i = 0; i < COUNT; i++) {
        before += xs[i] < x ? 1 : 0;
        equal += xs[i] == x ? 1 : 0;
    }
    assert_int_equal(page_find(view, x, &first, &count, NULL), KSV_OK);
    assert_int_equal(count, equal);
    if (equal > 0)
        assert_int_equal(first, before);
    for (size_t i = 0; i < count; i++)
        assert_true(page_payload(view, first + i) == first + i);
}

static void test_find(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        make_page(seed);
        page_view view;
        random_source random = {seed};
        assert_int_equal(page_open(page, 7, &context, &view, NULL), KSV_OK);
        assert_int_equal(view.entries, COUNT);
        assert_true(view.base == xs[0] && page_last(&view) == xs[COUNT - 1]);
        for (size_t i = 0; i < COUNT; i++)
            for (uint64_t d = 0; d < 3; d++)
                check_find(&view, xs[i] + d - 1);
        for (int i = 0; i < 1000; i++)
            check_find(&view,
                       xs[0] + random_below(&random, page_last(&view) - xs[0]));
        check_find(&view, 0);
        check_find(&view, UINT64_MAX);
    }
}

static void test_cursor(void **state)
{
    (void)state;
    make_page(3);
    page_view view;
    page_cursor cursor;
    uint64_t x, payload;
    bool end;
    assert_int_equal(page_open(page, 7, &context, &view, NULL), KSV_OK);
    page_cursor_open(&cursor, &view);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(page_cursor_next(&cursor, &x, &payload, &end, NULL),
                         KSV_OK);
        assert_false(end);
        assert_true(x == xs[i] && payload == i);
    }
    assert_int_equal(page_cursor_next(&cursor, &x, &payload, &end, NULL),
                     KSV_OK);
    assert_true(end);
}

static void check_refused(const char *why)
{
    page_view view;
    ksv_error error = {0};
    assert_int_equal(page_open(page, 7, &context, &view, &error),
                     KSV_ERROR_CORRUPT);
    if (strstr(error.text, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, why);
    assert_true(error.byte_offset == 8 * 4096);
}

static void test_what_is_not_this_page(void **state)
{
    (void)state;
    make_page(4);
    page_view view;
    page_context other = context;
    other.tag++;
    assert_int_equal(page_open(page, 8, &context, &view, NULL),
                     KSV_ERROR_CORRUPT);
    assert_int_equal(page_open(page, 7, &other, &view, NULL),
                     KSV_ERROR_CORRUPT);
    page[4000] ^= 4;
    check_refused("checksum");
}

static void test_headers_that_lie(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        unsigned width;
        uint64_t value;
        const char *why;
    } cases[] = {
        {PAGE_NUMBER, 4, 8, "another page"},
        {PAGE_TAG, 8, 1, "another table"},
        {PAGE_ENTRIES, 2, 0, "lengths"},
        {PAGE_ENTRIES, 2, 65535, "lengths"},
        {PAGE_UNARY_BITS, 2, 0, "lengths"},
        {PAGE_UNARY_BITS, 2, COUNT - 1, "lengths"},
        {PAGE_UNARY_BITS, 2, 65535, "fit"},
        {PAGE_LOW_BITS, 1, 64, "lengths"},
        {PAGE_LOW_BITS, 1, 255, "lengths"},
        {PAGE_LOW_BITS, 1, 63, "too big"},
        {PAGE_LOW_BITS, 1, 60, "too big"},
        {PAGE_BASE, 8, UINT64_MAX, "too big"},
        {PAGE_BASE, 8, (UINT64_C(1) << 40) - 1, "too big"},
        {PAGE_FLAGS, 1, 16, "flags"},
        {PAGE_FLAGS, 1, TABLE_FLAG_RUN_AFTER, "flags"},
        {PAGE_FLAGS, 1, TABLE_FLAG_RUN_BEFORE, "flags"},
        {PAGE_RESERVED, 2, 1, "lengths"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_page(5);
        uint8_t value[8];
        store_u64(value, cases[i].value);
        memcpy(page + cases[i].offset, value, cases[i].width);
        seal();
        check_refused(cases[i].why);
    }
}

/* Whatever the body holds, finding and decoding stay inside the page. */
static void test_bodies_that_lie(void **state)
{
    (void)state;
    random_source random = {6};
    size_t refused = 0;
    for (int round = 0; round < 20000; round++) {
        if (round % 64 == 0)
            make_page((uint64_t)round);
        for (int i = 0; i < 3; i++)
            page[16 + random_below(&random, 300)] =
                (uint8_t)random_next(&random);
        seal();
        page_view view;
        if (page_open(page, 7, &context, &view, NULL) != KSV_OK) {
            make_page((uint64_t)round);
            refused++;
            continue;
        }
        size_t first, count;
        uint64_t x = random_below(&random, page_last(&view) - view.base + 1);
        if (page_find(&view, view.base + x, &first, &count, NULL) == KSV_OK)
            assert_true(first + count <= view.entries);
        page_cursor cursor;
        bool end = false;
        size_t decoded = 0;
        uint64_t payload;
        page_cursor_open(&cursor, &view);
        while (!end &&
               page_cursor_next(&cursor, &x, &payload, &end, NULL) == KSV_OK)
            decoded += end ? 0 : 1;
        assert_true(decoded <= view.entries);
        if (end)
            assert_int_equal(decoded, view.entries);
    }
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_cursor),
        cmocka_unit_test(test_what_is_not_this_page),
        cmocka_unit_test(test_headers_that_lie),
        cmocka_unit_test(test_bodies_that_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
