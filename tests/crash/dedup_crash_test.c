/* SPDX-License-Identifier: MIT */
/* A state of dedup that is killed, loses power or cannot write at any of its
 * operations: what a checkpoint acknowledged is never fresh again, and nothing
 * is taken for seen that was not offered. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <keysieve/dedup.h>

#include "dedup/dedup_private.h"
#include "support/fault_file_system.h"
#include "support/temp_dir.h"

enum { ROUNDS = 7, KEYS_A_ROUND = 30, KEYS = ROUNDS * KEYS_A_ROUND };

typedef struct crash_case {
    temp_dir dir;
    char state[TEMP_DIR_PATH_BYTES];
    char kept[TEMP_DIR_PATH_BYTES];
    fault_file_system faults;
    bool approximate;
    bool with_window;
    int *acknowledged; /* keys; shared with the child */
} crash_case;

static ksv_status open_state(const crash_case *c, const ksv_file_system *fs,
                             ksv_dedup **dedup, ksv_error *error)
{
    ksv_dedup_options options;
    ksv_dedup_options_init(&options);
    options.approximate = c->approximate;
    options.expected_keys = c->approximate ? 2000 : 0;
    options.fpr = c->approximate ? 1e-9 : 0;
    options.window_ms = c->with_window ? 1000000 : 0;
    options.state_directory = c->state;
    options.file_system = fs;
    return ksv_dedup_open(&options, dedup, error);
}

static size_t name_key(int number, char key[64])
{
    return (size_t)snprintf(key, 64, "key number %d", number);
}

/* In windows time goes on by two slices a round, and none is forgotten. */
static ksv_status offer(ksv_dedup *dedup, int number, bool *fresh,
                        ksv_error *error)
{
    char key[64];
    size_t size = name_key(number, key);
    int64_t time_ms = 1000 + (int64_t)number / KEYS_A_ROUND * 130000;
    return ksv_dedup_offer(dedup, key, size, time_ms, fresh, error);
}

static ksv_status run_round(const crash_case *c, ksv_dedup *dedup, int round,
                            ksv_error *error)
{
    for (int i = 0; i < KEYS_A_ROUND; i++) {
        bool fresh;
        ksv_status status =
            offer(dedup, round * KEYS_A_ROUND + i, &fresh, error);
        if (status != KSV_OK)
            return status;
        /* To disk in the middle of what is not acknowledged. */
        if (i == KEYS_A_ROUND / 2 && round % 2 == 1 && !c->approximate)
            status = exact_keys_flush(dedup->exact, dedup->stream_ms, error);
        if (status != KSV_OK)
            return status;
    }
    ksv_status status = ksv_dedup_checkpoint(dedup, error);
    if (status == KSV_OK)
        *c->acknowledged = (round + 1) * KEYS_A_ROUND;
    return status;
}

/* Two runs over one state. */
static ksv_status run_all(const crash_case *c, const ksv_file_system *fs,
                          ksv_error *error)
{
    for (int part = 0; part < 2; part++) {
        ksv_dedup *dedup;
        ksv_status status = open_state(c, fs, &dedup, error);
        if (status != KSV_OK)
            return status;
        int first = part * 4;
        int end = part == 0 ? 4 : ROUNDS;
        for (int r = first; r < end && status == KSV_OK; r++)
            status = run_round(c, dedup, r, error);
        ksv_dedup_close(dedup);
        if (status != KSV_OK)
            return status;
    }
    return KSV_OK;
}

static int run_in_child(void *ctx)
{
    crash_case *c = ctx;
    return run_all(c, &c->faults.fs, NULL) == KSV_OK ? 0 : 1;
}

static void make_case(crash_case *c, bool approximate, bool with_window)
{
    memset(c, 0, sizeof *c);
    c->approximate = approximate;
    c->with_window = with_window;
    temp_dir_make(&c->dir);
    temp_dir_path(&c->dir, "state", c->state);
    temp_dir_path(&c->dir, "kept", c->kept);
    c->acknowledged = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(c->acknowledged != MAP_FAILED);
    fault_file_system_open(&c->faults, ksv_posix_file_system());
}

static void close_case(crash_case *c)
{
    fault_file_system_close(&c->faults);
    munmap(c->acknowledged, sizeof(int));
    temp_dir_remove(&c->dir);
}

static void reset(crash_case *c)
{
    char command[2 * TEMP_DIR_PATH_BYTES];
    snprintf(command, sizeof command, "rm -rf %s %s && mkdir %s", c->state,
             c->kept, c->kept);
    assert_int_equal(system(command), 0);
    fault_file_system_reset(&c->faults);
    *c->acknowledged = 0;
}

static void check_state(const crash_case *c, const char *what, uint64_t at)
{
    ksv_dedup *dedup;
    ksv_error error;
    if (open_state(c, NULL, &dedup, &error) != KSV_OK)
        fail_msg("%s at operation %llu: cannot open: %s: %s", what,
                 (unsigned long long)at, error.path, error.text);
    for (int i = 0; i < KEYS + 50; i++) {
        bool fresh;
        assert_int_equal(offer(dedup, i, &fresh, NULL), KSV_OK);
        if (i < *c->acknowledged && fresh)
            fail_msg("%s at operation %llu: key %d of %d acknowledged ones is "
                     "fresh",
                     what, (unsigned long long)at, i, *c->acknowledged);
        if (i >= KEYS && !fresh)
            fail_msg("%s at operation %llu: key %d was never offered", what,
                     (unsigned long long)at, i);
    }
    assert_int_equal(ksv_dedup_checkpoint(dedup, NULL), KSV_OK);
    ksv_dedup_close(dedup);
}

static uint64_t count_operations(crash_case *c, unsigned operations)
{
    reset(c);
    c->faults.plan = (fault_plan){.operations = operations};
    assert_int_equal(run_all(c, &c->faults.fs, NULL), KSV_OK);
    assert_int_equal(*c->acknowledged, KEYS);
    assert_true(fault_file_system_open_files(&c->faults) == 0);
    uint64_t count = fault_file_system_count(&c->faults);
    check_state(c, "no fault", 0);
    return count;
}

static void check_kills(bool approximate, bool with_window)
{
    crash_case c;
    make_case(&c, approximate, with_window);
    uint64_t count = count_operations(&c, FAULT_CHANGES);
    assert_true(count > 30);
    for (uint64_t at = 1; at <= count; at++) {
        reset(&c);
        c.faults.plan = (fault_plan){.operations = FAULT_CHANGES,
                                     .at = at,
                                     .partial_append = at % 2 == 0,
                                     .kill = true};
        assert_int_equal(fault_run_forked(run_in_child, &c), FAULT_EXIT_CODE);
        check_state(&c, "killed", at);
    }
    close_case(&c);
}

static void test_kills_exact(void **state)
{
    (void)state;
    check_kills(false, false);
    check_kills(false, true);
}

static void test_kills_approximate(void **state)
{
    (void)state;
    check_kills(true, false);
    check_kills(true, true);
}

static void check_power_loss(bool approximate, bool with_window)
{
    crash_case c;
    make_case(&c, approximate, with_window);
    uint64_t count = count_operations(&c, FAULT_CHANGES);
    for (uint64_t at = 1; at <= count; at++) {
        reset(&c);
        fault_file_system_track(&c.faults, c.kept);
        c.faults.plan = (fault_plan){.operations = FAULT_CHANGES,
                                     .at = at,
                                     .partial_append = at % 2 == 0,
                                     .kill = true};
        assert_int_equal(fault_run_forked(run_in_child, &c), FAULT_EXIT_CODE);
        fault_file_system_lose_power(&c.faults);
        check_state(&c, "power lost", at);
    }
    close_case(&c);
}

static void test_power_loss(void **state)
{
    (void)state;
    check_power_loss(false, false);
    check_power_loss(true, true);
}

/* An operation that fails is told, and the state is good for the next run. */
static void check_failures(bool approximate, bool with_window, bool and_later)
{
    crash_case c;
    make_case(&c, approximate, with_window);
    unsigned operations = FAULT_ALL & ~(unsigned)FAULT_REMOVE;
    uint64_t count = count_operations(&c, operations);
    for (uint64_t at = 1; at <= count; at++) {
        ksv_error error;
        reset(&c);
        c.faults.plan = (fault_plan){.operations = operations,
                                     .at = at,
                                     .os_errno = ENOSPC,
                                     .partial_append = at % 2 == 0,
                                     .and_later = and_later};
        ksv_status status = run_all(&c, &c.faults.fs, &error);
        if (status == KSV_OK)
            assert_int_equal(*c.acknowledged, KEYS);
        else
            assert_true(error.text[0] != '\0');
        assert_true(fault_file_system_open_files(&c.faults) == 0);
        check_state(&c, "failed", at);
    }
    close_case(&c);
}

static void test_failures(void **state)
{
    (void)state;
    check_failures(false, true, false);
    check_failures(false, false, true);
    check_failures(true, true, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kills_exact),
        cmocka_unit_test(test_kills_approximate),
        cmocka_unit_test(test_power_loss),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
