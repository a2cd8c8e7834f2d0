/* SPDX-License-Identifier: MIT */
/* Zeros by number, against counting them one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "support/random.h"
#include "table/unary_select.h"

#define BYTES 600

static size_t count_zeros(const uint8_t *data, size_t size_bits, size_t rank)
{
    if (rank == 0)
        return 0;
    for (size_t i = 0; i < size_bits; i++)
        if ((data[i / 8] >> (i % 8) & 1) == 0 && --rank == 0)
            return i + 1;
    return size_bits;
}

static void check(const uint8_t *data, size_t size_bits)
{
    for (size_t rank = 0; rank < size_bits + 70; rank++) {
        size_t expected = count_zeros(data, size_bits, rank);
        assert_int_equal(unary_select_zero(data, size_bits, rank), expected);
        assert_int_equal(unary_select_zero_portable(data, size_bits, rank),
                         expected);
    }
}

static void test_any_bits(void **state)
{
    (void)state;
    uint8_t data[BYTES];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        random_source random = {seed};
        random_fill(&random, data, sizeof data);
        if (seed % 3 == 0)
            for (size_t i = 0; i < BYTES; i++)
                data[i] |= (uint8_t)random_next(&random);
        check(data, 1 + random_below(&random, 8 * (BYTES - 8)));
    }
    memset(data, 0, sizeof data);
    check(data, 1000);
    memset(data, 0xff, sizeof data);
    check(data, 1000);
    check(data, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
