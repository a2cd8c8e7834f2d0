/* SPDX-License-Identifier: MIT */
/* What comes out of a sorter against qsort: in memory and spilled, from one
 * adder or several, with and without threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/hash.h>

#include "sort/entry_sorter.h"
#include "support/fault_allocator.h"
#include "support/sort_model.h"
#include "support/temp_dir.h"

static void test_every_width_equals_qsort(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 100, 5000};
    sort_case c = {.adders = 1};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (c.hash_bits = 32; c.hash_bits <= 64; c.hash_bits++) {
            c.count = counts[i];
            c.keys = 0;
            sort_case_check(&c);
            c.keys = 7;
            sort_case_check(&c);
        }
}

static void test_any_guess_will_do(void **state)
{
    (void)state;
    static const uint64_t expected[] = {0, 1, 1000, 1000000, UINT64_MAX / 64};
    sort_case c = {.adders = 1, .count = 20000, .hash_bits = 44};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        c.expected = expected[i];
        c.memory_bytes = 64 << 20;
        sort_case_check(&c);
    }
}

/* A limit of 2 MiB holds some 100,000 entries. */
static void test_spilled_equals_in_memory(void **state)
{
    (void)state;
    sort_case c = {.adders = 1,
                   .hash_bits = 44,
                   .count = 400000,
                   .memory_bytes = ENTRY_SORTER_LEAST_BYTES,
                   .must_spill = true};
    c.expected = c.count;
    sort_case_check(&c);
    c.expected = 10; /* few partitions: none of them fits in memory */
    sort_case_check(&c);
    c.keys = 3;
    c.expected = c.count;
    sort_case_check(&c);
}

static void test_one_key_only(void **state)
{
    (void)state;
    sort_case c = {.adders = 3,
                   .hash_bits = 36,
                   .count = 300000,
                   .keys = 1,
                   .memory_bytes = ENTRY_SORTER_LEAST_BYTES,
                   .must_spill = true};
    sort_case_check(&c);
    c.memory_bytes = 0;
    c.must_spill = false;
    sort_case_check(&c);
}

/* Different keys with one truncated hash are counted as what they are. */
static void test_collisions_are_counted(void **state)
{
    (void)state;
    sort_case c = {.adders = 1,
                   .hash_bits = 36,
                   .count = 200000,
                   .colliding = true,
                   .keys = 5000};
    sort_case_check(&c);
    c.memory_bytes = ENTRY_SORTER_LEAST_BYTES;
    c.must_spill = true;
    sort_case_check(&c);
}

static void test_refused_widths(void **state)
{
    (void)state;
    static const unsigned wrong[] = {0, 31, 65};
    for (size_t i = 0; i < 3; i++) {
        entry_sorter_options options = {.adders = 1};
        entry_sorter *sorter;
        assert_int_equal(entry_sorter_open(&options, &sorter, NULL), KSV_OK);
        assert_int_equal(entry_sorter_finish(sorter, wrong[i], NULL, 0, NULL),
                         KSV_ERROR_ARGUMENT);
        entry_sorter_close(sorter);
    }
}

/* Every allocation fails once; what was allocated never passes the limit. */
static void test_failed_allocations(void **state)
{
    (void)state;
    sort_case c = {.adders = 2,
                   .hash_bits = 40,
                   .count = 150000,
                   .memory_bytes = ENTRY_SORTER_LEAST_BYTES,
                   .must_spill = true};
    c.expected = c.count;
    for (size_t i = 1;; i++) {
        fault_allocator faults;
        fault_allocator_init(&faults, i);
        c.allocator = &faults.allocator;
        ksv_status status = sort_case_run(&c);
        if (!fault_allocator_is_clean(&faults))
            fail_msg("allocation %zu: %zu blocks left, %zu wrong", i,
                     faults.live_blocks, faults.wrong_sizes);
        assert_true(faults.peak_bytes <=
                    ENTRY_SORTER_LEAST_BYTES + (256 << 10));
        if (faults.calls < i) {
            assert_int_equal(status, KSV_OK);
            assert_true(i > 10);
            break;
        }
        assert_int_equal(status, KSV_ERROR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_width_equals_qsort),
        cmocka_unit_test(test_any_guess_will_do),
        cmocka_unit_test(test_spilled_equals_in_memory),
        cmocka_unit_test(test_one_key_only),
        cmocka_unit_test(test_collisions_are_counted),
        cmocka_unit_test(test_refused_widths),
        cmocka_unit_test(test_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
