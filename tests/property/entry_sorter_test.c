/* SPDX-License-Identifier: MIT */
/* Random sets of entries through sorters of all kinds: what comes out is what
 * qsort gives, for any limit and any number of threads; disk errors at every
 * operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>

#include <cmocka.h>

#include "sort/entry_sorter.h"
#include "support/fault_file_system.h"
#include "support/random.h"
#include "support/sort_model.h"
#include "support/temp_dir.h"

static sort_case random_case(uint64_t seed)
{
    random_source random = {seed};
    sort_case c = {.seed = seed};
    c.count = (size_t)random_below(&random, 1 << random_below(&random, 18));
    c.hash_bits = 36 + (unsigned)random_below(&random, 29);
    if (random_below(&random, 2) == 0)
        c.keys = 1 + random_below(&random, 1 << random_below(&random, 16));
    c.colliding = random_below(&random, 4) == 0 && c.hash_bits < 64;
    c.adders = 1 + (unsigned)random_below(&random, 4);
    c.threads = (unsigned)random_below(&random, 5);
    c.expected = random_below(&random, 2) == 0 ? c.count
                                               : random_below(&random, 1 << 20);
    if (random_below(&random, 4) > 0)
        c.memory_bytes = UINT64_C(1) << (20 + random_below(&random, 5));
    return c;
}

static void test_random_cases(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        sort_case c = random_case(seed);
        print_message("seed %llu: %zu entries, %u adders, %u threads\n",
                      (unsigned long long)seed, c.count, c.adders, c.threads);
        sort_case_check(&c);
    }
}

static void test_threads_while_spilling(void **state)
{
    (void)state;
    sort_case c = {.count = 500000,
                   .hash_bits = 44,
                   .memory_bytes = 4 << 20,
                   .expected = 500000,
                   .must_spill = true};
    for (c.threads = 2; c.threads <= 4; c.threads++)
        for (c.keys = 0; c.keys <= 2; c.keys += 2) {
            c.adders = c.threads;
            sort_case_check(&c);
        }
}

/* Nothing stays behind, and the failure is told. */
static void fail_everywhere(sort_case *c, unsigned operations, int os_errno)
{
    temp_dir dir;
    temp_dir_make(&dir);
    fault_file_system faults;
    fault_file_system_open(&faults, ksv_posix_file_system());
    c->fs = &faults.fs;
    c->directory = dir.path;
    uint64_t at = 1;
    for (;; at += 1 + at / 16) {
        fault_file_system_reset(&faults);
        faults.plan = (fault_plan){.operations = operations,
                                   .at = at,
                                   .os_errno = os_errno,
                                   .partial_append = true};
        ksv_status status = sort_case_run(c);
        assert_int_equal(fault_file_system_open_files(&faults), 0);
        if (fault_file_system_count(&faults) < at) {
            assert_int_equal(status, KSV_OK);
            break;
        }
        assert_int_equal(status, KSV_ERROR_IO);
    }
    assert_true(at > 5);
    fault_file_system_close(&faults);
    temp_dir_remove(&dir);
}

#define FAULT_WHILE_SORTING \
    ((unsigned)(FAULT_CREATE | FAULT_APPEND | FAULT_OPEN_READ | FAULT_READ))

static void test_disk_errors(void **state)
{
    (void)state;
    sort_case c = {.count = 120000,
                   .hash_bits = 44,
                   .adders = 1,
                   .expected = 120000,
                   .memory_bytes = ENTRY_SORTER_LEAST_BYTES,
                   .must_spill = true};
    fail_everywhere(&c, FAULT_WHILE_SORTING, EIO);
    fail_everywhere(&c, FAULT_APPEND, ENOSPC);
}

static void test_disk_errors_of_one_key(void **state)
{
    (void)state;
    sort_case c = {.count = 120000,
                   .keys = 1,
                   .hash_bits = 44,
                   .adders = 2,
                   .threads = 2,
                   .expected = 120000,
                   .memory_bytes = ENTRY_SORTER_LEAST_BYTES,
                   .must_spill = true};
    fail_everywhere(&c, FAULT_WHILE_SORTING, EIO);
    fail_everywhere(&c, FAULT_APPEND, ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_cases),
        cmocka_unit_test(test_threads_while_spilling),
        cmocka_unit_test(test_disk_errors),
        cmocka_unit_test(test_disk_errors_of_one_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
