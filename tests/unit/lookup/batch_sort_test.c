/* SPDX-License-Identifier: MIT */
/* The order of reads, against a sort by comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lookup/batch_sort.h"
#include "support/random.h"

#define MOST 5000

static int compare(const void *a, const void *b)
{
    const batch_item *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    /* Owners are numbered in the order of the input. */
    return x->owner < y->owner ? -1 : x->owner > y->owner;
}

static void run(uint64_t seed, size_t count, uint64_t places, uint32_t sources)
{
    static batch_item items[MOST], spare[MOST], expected[MOST];
    random_source random = {seed};
    for (size_t i = 0; i < count; i++)
        items[i] = (batch_item){random_next(&random) & places, (uint32_t)i,
                                (uint32_t)random_next(&random) & sources};
    memcpy(expected, items, count * sizeof *items);
    qsort(expected, count, sizeof *expected, compare);
    batch_sort(items, spare, count);
    assert_memory_equal(items, expected, count * sizeof *items);
}

static void test_any_items(void **state)
{
    (void)state;
    static const size_t COUNTS[] = {0, 1, 2, 3, 63, 64, 65, 1000, MOST};
    static const uint64_t PLACES[] = {0,        1,          0x7ff,
                                      0x800,    0xfffff,    UINT64_MAX,
                                      1u << 31, 1ull << 63, 0xff000000000};
    static const uint32_t SOURCES[] = {0, 1, 0xfff, UINT32_MAX};
    uint64_t seed = 1;
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c++)
        for (size_t p = 0; p < sizeof PLACES / sizeof *PLACES; p++)
            for (size_t s = 0; s < sizeof SOURCES / sizeof *SOURCES; s++)
                run(seed++, COUNTS[c], PLACES[p], SOURCES[s]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_items)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
