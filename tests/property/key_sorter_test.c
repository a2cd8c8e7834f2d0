/* SPDX-License-Identifier: MIT */
/* Random sets of keys through sorters of all kinds: what comes out is what
 * qsort gives, for any limit and any number of threads; disk errors at every
 * operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>

#include <cmocka.h>

#include "support/fault_file_system.h"
#include "support/key_sort_model.h"
#include "support/pace.h"
#include "support/temp_dir.h"

static key_sort_case random_case(uint64_t seed)
{
    random_source random = {seed};
    key_sort_case c = {.seed = seed};
    c.kind = (key_kind)random_below(&random, KEYS_KINDS);
    c.count = (size_t)random_below(&random, 1 << random_below(&random, 17));
    if (c.kind == KEYS_LONG || c.kind == KEYS_CHAIN)
        c.count /= 16;
    c.adders = 1 + (unsigned)random_below(&random, 4);
    c.threads = (unsigned)random_below(&random, 4);
    if (random_below(&random, 4) > 0)
        c.memory_bytes = UINT64_C(1) << (18 + random_below(&random, 7));
    return c;
}

static void test_random_cases(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= PACE_ROUNDS(60); seed++) {
        key_sort_case c = random_case(seed);
        print_message("seed %llu: %zu keys of kind %d, %u adders, %u threads\n",
                      (unsigned long long)seed, c.count, (int)c.kind, c.adders,
                      c.threads);
        key_sort_case_check(&c);
    }
}

/* Nothing stays behind, and the failure is told. */
static void fail_everywhere(key_sort_case *c, unsigned operations, int os_errno)
{
    temp_dir dir;
    temp_dir_make(&dir);
    fault_file_system faults;
    fault_file_system_open(&faults, ksv_posix_file_system());
    c->fs = &faults.fs;
    c->directory = dir.path;
    uint64_t at = 1;
    for (;; at += 1 + at / 4) {
        fault_file_system_reset(&faults);
        faults.plan = (fault_plan){.operations = operations,
                                   .at = at,
                                   .os_errno = os_errno,
                                   .partial_append = true};
        ksv_status status = key_sort_case_run(c);
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

static void test_disk_errors(void **state)
{
    (void)state;
    key_sort_case c = {.kind = KEYS_HEX,
                       .count = 40000,
                       .adders = 1,
                       .memory_bytes = 1 << 20,
                       .must_spill = true};
    fail_everywhere(
        &c, FAULT_CREATE | FAULT_APPEND | FAULT_OPEN_READ | FAULT_READ, EIO);
    fail_everywhere(&c, FAULT_APPEND, ENOSPC);
}

static void test_disk_errors_of_passes(void **state)
{
    (void)state;
    key_sort_case c = {.kind = KEYS_LONG,
                       .count = 12000,
                       .adders = 2,
                       .threads = 2,
                       .memory_bytes = 1,
                       .must_spill = true};
    fail_everywhere(
        &c, FAULT_CREATE | FAULT_APPEND | FAULT_OPEN_READ | FAULT_READ, EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_cases),
        cmocka_unit_test(test_disk_errors),
        cmocka_unit_test(test_disk_errors_of_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
