/* SPDX-License-Identifier: MIT */
/* What comes out of a sorter of keys against qsort: in memory and spilled, from
 * one adder or several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sort/key_sorter.h"
#include "support/fault_allocator.h"
#include "support/key_sort_model.h"
#include "support/pace.h"
#include "support/temp_dir.h"

static void test_every_kind_equals_qsort(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 25, 600, 20000};
    key_sort_case c = {.adders = 1};
    for (c.kind = 0; c.kind < KEYS_KINDS; c.kind++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            c.count = c.kind == KEYS_LONG ? counts[i] / 10 : counts[i];
            key_sort_case_check(&c);
        }
}

static void test_spilled_equals_in_memory(void **state)
{
    (void)state;
    key_sort_case c = {.adders = 1,
                       .memory_bytes = KEY_SORTER_LEAST_BYTES,
                       .must_spill = true};
    for (c.kind = 0; c.kind < KEYS_KINDS; c.kind++) {
        c.count = c.kind == KEYS_LONG ? 1500 : 120000;
        c.adders = 1 + (unsigned)c.kind % 3;
        key_sort_case_check(&c);
    }
}

/* So many runs that they are merged more than once. */
static void test_merge_passes(void **state)
{
    (void)state;
    key_sort_case c = {.kind = KEYS_LONG,
                       .adders = 2,
                       .count = 20000,
                       .memory_bytes = 1,
                       .must_spill = true};
    key_sort_case_check(&c);
}

/* Keys longer than all memory that the sorter may use. */
static void test_huge_keys(void **state)
{
    (void)state;
    temp_dir dir;
    temp_dir_make(&dir);
    const size_t size = 3 << 20;
    uint8_t *key = malloc(size);
    assert_non_null(key);
    memset(key, 7, size);
    key_sorter_options options = {.memory_bytes = KEY_SORTER_LEAST_BYTES,
                                  .fs = ksv_posix_file_system(),
                                  .directory = dir.path,
                                  .spill_name = "x"};
    key_sorter *sorter;
    assert_int_equal(key_sorter_open(&options, &sorter, NULL), KSV_OK);
    key_adder *adder = key_sorter_adder(sorter, 0);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(key_adder_add(adder, key, size - i, i, NULL), KSV_OK);
        assert_int_equal(key_adder_add(adder, key, i, i, NULL), KSV_OK);
    }
    assert_int_equal(key_sorter_finish(sorter, NULL, NULL), KSV_OK);
    for (size_t i = 0; i < 12; i++) {
        key_entry entry;
        bool end;
        assert_int_equal(key_sorter_next(sorter, &entry, &end, NULL), KSV_OK);
        assert_false(end);
        uint64_t payload = i < 6 ? i : 11 - i;
        assert_int_equal(entry.payload, payload);
        assert_int_equal(entry.key_bytes, i < 6 ? i : size - payload);
        assert_memory_equal(entry.key, key, entry.key_bytes);
    }
    key_sorter_close(sorter);
    free(key);
    temp_dir_remove(&dir);
}

/* Every allocation fails once; what was allocated never passes the limit. */
static void test_failed_allocations(void **state)
{
    (void)state;
    key_sort_case c = {.kind = KEYS_NUMBERS,
                       .adders = 2,
                       .count = 60000,
                       .memory_bytes = 3 << 20,
                       .must_spill = true};
    for (size_t i = 1;; i += PACE_STEP > 3 ? 5 : 1) {
        fault_allocator faults;
        fault_allocator_init(&faults, i);
        c.allocator = &faults.allocator;
        ksv_status status = key_sort_case_run(&c);
        if (!fault_allocator_is_clean(&faults))
            fail_msg("allocation %zu: %zu blocks left, %zu wrong", i,
                     faults.live_blocks, faults.wrong_sizes);
        if (faults.peak_bytes > c.memory_bytes + (64 << 10))
            fail_msg("%zu bytes taken", faults.peak_bytes);
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
        cmocka_unit_test(test_every_kind_equals_qsort),
        cmocka_unit_test(test_spilled_equals_in_memory),
        cmocka_unit_test(test_merge_passes),
        cmocka_unit_test(test_huge_keys),
        cmocka_unit_test(test_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
