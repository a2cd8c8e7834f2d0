/* SPDX-License-Identifier: MIT */
/* CRC-32 by whatever way the processor has, against one bit at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compress/zlib_bridge.h"
#include "datafile/crc32.h"
#include "support/random.h"

static uint32_t slow_crc32(uint32_t crc, const uint8_t *data, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
    }
    return ~crc;
}

static void test_check_value(void **state)
{
    (void)state;
    const uint8_t digits[] = "123456789";
    assert_int_equal(crc32_update(0, digits, 9), 0xcbf43926);
    assert_int_equal(crc32_update(0, digits, 0), 0);
}

static void test_any_length_and_place(void **state)
{
    (void)state;
    static uint8_t data[3000];
    random_source random = {1};
    random_fill(&random, data, sizeof data);
    for (int i = 0; i < 3000; i++) {
        const size_t from = (size_t)random_below(&random, 64);
        const size_t size = (size_t)random_below(
            &random, random_below(&random, 2) == 0 ? 200 : 2900);
        const uint32_t before = (uint32_t)random_next(&random);
        const uint32_t expected = slow_crc32(before, data + from, size);
        assert_int_equal(crc32_update(before, data + from, size), expected);
        assert_int_equal(zlib_crc32(before, data + from, size), expected);
    }
}

static void test_parts_equal_the_whole(void **state)
{
    (void)state;
    static uint8_t data[5000];
    random_source random = {2};
    random_fill(&random, data, sizeof data);
    const uint32_t whole = slow_crc32(0, data, sizeof data);
    for (size_t cut = 0; cut <= sizeof data; cut += 37) {
        uint32_t crc = crc32_update(0, data, cut);
        crc = crc32_update(crc, data + cut, sizeof data - cut);
        assert_int_equal(crc, whole);
    }
}

static void test_shift_makes_room_for_a_part(void **state)
{
    (void)state;
    static uint8_t data[70000];
    random_source random = {3};
    random_fill(&random, data, sizeof data);
    const uint32_t whole = zlib_crc32(0, data, sizeof data);
    for (size_t cut = 0; cut <= sizeof data; cut += 1000) {
        const uint32_t head = zlib_crc32(0, data, cut);
        const uint32_t tail = zlib_crc32(0, data + cut, sizeof data - cut);
        assert_int_equal(zlib_crc32_shift(head, sizeof data - cut) ^ tail,
                         whole);
    }
    assert_int_equal(zlib_crc32_shift(whole, 0), whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_value),
        cmocka_unit_test(test_any_length_and_place),
        cmocka_unit_test(test_parts_equal_the_whole),
        cmocka_unit_test(test_shift_makes_room_for_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
