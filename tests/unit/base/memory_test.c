/* SPDX-License-Identifier: MIT */
/* Growing buffers, arrays and the coding of numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"

static void test_buffer_round_trip(void **state)
{
    (void)state;
    ksv_allocator a = allocator_or_default(NULL);
    byte_buffer b;
    buffer_init(&b, &a);
    assert_int_equal(buffer_put_u8(&b, 0xab, NULL), KSV_OK);
    assert_int_equal(buffer_put_u16(&b, 0x1234, NULL), KSV_OK);
    assert_int_equal(buffer_put_u32(&b, 0xdeadbeef, NULL), KSV_OK);
    assert_int_equal(buffer_put_u64(&b, 0x0123456789abcdef, NULL), KSV_OK);
    assert_int_equal(buffer_put_bytes(&b, "key", 3, NULL), KSV_OK);
    static const uint8_t expected[] = {
        0xab, 0x34, 0x12, 0xef, 0xbe, 0xad, 0xde, 0xef, 0xcd, 0xab, 0x89,
        0x67, 0x45, 0x23, 0x01, 3,    0,    0,    0,    'k',  'e',  'y'};
    assert_int_equal(b.size, sizeof expected);
    assert_memory_equal(b.data, expected, sizeof expected);

    byte_cursor c = cursor_over(b.data, b.size);
    assert_int_equal(cursor_u8(&c), 0xab);
    assert_int_equal(cursor_u16(&c), 0x1234);
    assert_int_equal(cursor_u32(&c), 0xdeadbeef);
    assert_true(cursor_u64(&c) == 0x0123456789abcdef);
    size_t size;
    assert_memory_equal(cursor_bytes(&c, &size), "key", 3);
    assert_int_equal(size, 3);
    assert_true(cursor_at_end(&c));
    assert_int_equal(cursor_u8(&c), 0);
    assert_true(c.failed);
    buffer_release(&b);
}

static void test_cursor_refuses_what_is_not_there(void **state)
{
    (void)state;
    static const uint8_t data[] = {0xff, 0xff, 0xff, 0xff, 1};
    byte_cursor c = cursor_over(data, sizeof data);
    size_t size;
    assert_null(cursor_bytes(&c, &size));
    assert_int_equal(size, 0);
    assert_false(cursor_at_end(&c));
}

static void test_array_size_overflow_is_no_memory(void **state)
{
    (void)state;
    ksv_allocator a = allocator_or_default(NULL);
    assert_null(memory_zalloc_array(&a, SIZE_MAX / 2, 3));
    void *items = NULL;
    size_t capacity = 0;
    ksv_error e;
    assert_int_equal(memory_grow(&a, &items, &capacity, SIZE_MAX / 2, 3, &e),
                     KSV_ERROR_MEMORY);
    assert_int_equal(e.status, KSV_ERROR_MEMORY);
}

static void test_error_keeps_the_end_of_a_long_path(void **state)
{
    (void)state;
    static char path[6000];
    memset(path, 'd', sizeof path - 1);
    memcpy(path + sizeof path - 10, "/name.csv", 9);
    ksv_error e;
    assert_int_equal(error_set_at(&e, KSV_ERROR_DATA, path, 7, "bad %d", 3),
                     KSV_ERROR_DATA);
    assert_string_equal(e.path + strlen(e.path) - 9, "/name.csv");
    assert_string_equal(e.text, "bad 3");
    assert_true(e.byte_offset == 7);
    assert_int_equal(error_set(NULL, KSV_ERROR_IO, "x", "y"), KSV_ERROR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer_round_trip),
        cmocka_unit_test(test_cursor_refuses_what_is_not_there),
        cmocka_unit_test(test_array_size_overflow_is_no_memory),
        cmocka_unit_test(test_error_keeps_the_end_of_a_long_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
