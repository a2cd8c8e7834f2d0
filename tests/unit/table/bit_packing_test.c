/* SPDX-License-Identifier: MIT */
/* Packed fields against one bit at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/random.h"
#include "table/bit_packing.h"

#define FIELDS 3000

/* The field, bit by bit. */
static uint64_t slow_read(const uint8_t *data, size_t position, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++, position++)
        value |= (uint64_t)(data[position / 8] >> position % 8 & 1) << i;
    return value;
}

static void test_fields_of_every_width(void **state)
{
    (void)state;
    static uint8_t data[FIELDS * 8 + BITS_READ_PADDING_BYTES];
    static uint64_t values[FIELDS];
    static size_t positions[FIELDS];
    static unsigned widths[FIELDS];
    random_source random = {7};
    memset(data, 0, sizeof data);
    bit_writer w = {.next = data};
    size_t position = 0;
    for (size_t i = 0; i < FIELDS; i++) {
        widths[i] = (unsigned)random_below(&random, 64);
        values[i] = random_next(&random) & bits_mask(widths[i]);
        positions[i] = position;
        position += widths[i];
        bit_writer_put(&w, values[i], widths[i]);
    }
    for (size_t i = 0; i < FIELDS; i++) {
        assert_true(slow_read(data, positions[i], widths[i]) == values[i]);
        assert_true(bits_read_wide(data, positions[i], widths[i]) == values[i]);
        if (widths[i] <= 57)
            assert_true(bits_read(data, positions[i], widths[i]) == values[i]);
    }
}

static void test_unary_gaps_of_every_length(void **state)
{
    (void)state;
    static uint8_t data[8192];
    memset(data, 0, sizeof data);
    bit_writer w = {.next = data};
    for (size_t zeros = 0; zeros < 300; zeros++) {
        for (size_t left = zeros; left > 0; left -= left < 63 ? left : 63)
            bit_writer_put(&w, 0, left < 63 ? (unsigned)left : 63);
        bit_writer_put(&w, 1, 1);
    }
    size_t position = 0;
    for (size_t zeros = 0; zeros < 300; zeros++) {
        for (size_t i = 0; i < zeros; i++)
            assert_true(slow_read(data, position++, 1) == 0);
        assert_true(slow_read(data, position++, 1) == 1);
    }
}

static void check_word(uint64_t word)
{
    unsigned rank = 0;
    unsigned length = 0;
    for (unsigned i = 0; i < 64; i++) {
        if ((word >> i & 1) == 0)
            continue;
        assert_int_equal(bits_select(word, rank), i);
        if (rank == 0)
            assert_int_equal(bits_lowest(word), i);
        rank++;
        length = i + 1;
    }
    assert_int_equal(bits_count(word), rank);
    assert_int_equal(bits_length(word), length);
}

static void test_counting_in_words(void **state)
{
    (void)state;
    random_source random = {8};
    check_word(0);
    check_word(UINT64_MAX);
    for (unsigned i = 0; i < 64; i++) {
        check_word(UINT64_C(1) << i);
        check_word(~(UINT64_C(1) << i));
    }
    for (int i = 0; i < 2000; i++)
        check_word(random_next(&random) & random_next(&random));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_of_every_width),
        cmocka_unit_test(test_unary_gaps_of_every_length),
        cmocka_unit_test(test_counting_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
