/* SPDX-License-Identifier: MIT */
/* A filter's file that keys are added to is the old one or the new one, after
 * failures, kills and losses of power at any moment; no key of another process
 * is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include <keysieve/filter.h>

#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/fault_file_system.h"
#include "support/filter_support.h"
#include "support/temp_dir.h"

#define OLD_KEYS 300
#define ALL_KEYS 600

typedef enum content { NOTHING, OLD, NEW, DAMAGED } content;

static ksv_filter_options options(void)
{
    ksv_filter_options o;
    ksv_filter_options_init(&o);
    assert_int_equal(
        ksv_filter_make_plan(ALL_KEYS, 0.000001, 64, &o.plan, NULL), KSV_OK);
    return o;
}

static void put_old(const ksv_file_system *fs, const char *path)
{
    ksv_filter_options o = options();
    ksv_filter_builder *b;
    assert_int_equal(ksv_filter_builder_open(&o, NULL, &b, NULL), KSV_OK);
    for (uint64_t i = 0; i < OLD_KEYS; i++)
        ksv_filter_builder_add(b, test_hash(1, i));
    assert_int_equal(ksv_filter_builder_save(b, fs, path, NULL), KSV_OK);
    ksv_filter_builder_close(b);
}

static content look(const ksv_file_system *fs, const char *path)
{
    ksv_filter_builder *b;
    ksv_error error;
    uint64_t found = 0;
    if (ksv_filter_builder_open_file(fs, path, NULL, &b, &error) != KSV_OK)
        return error.os_errno == ENOENT ? NOTHING : DAMAGED;
    for (uint64_t i = 0; i < ALL_KEYS; i++) {
        bool is_there = ksv_filter_builder_may_contain(b, test_hash(1, i));
        if (i < OLD_KEYS && !is_there)
            found = ALL_KEYS + 1;
        found += is_there;
    }
    ksv_filter_builder_close(b);
    if (found == ALL_KEYS)
        return NEW;
    return found >= OLD_KEYS && found < OLD_KEYS + 5 ? OLD : DAMAGED;
}

/* Adds the other keys. */
static ksv_status add(const ksv_file_system *fs, const char *path,
                      const ksv_allocator *allocator, ksv_error *error)
{
    ksv_filter_builder *b;
    ksv_status status =
        ksv_filter_builder_open_file(fs, path, allocator, &b, error);
    if (status != KSV_OK)
        return status;
    for (uint64_t i = OLD_KEYS; i < ALL_KEYS; i++)
        ksv_filter_builder_add(b, test_hash(1, i));
    status = ksv_filter_builder_update(b, fs, path, error);
    ksv_filter_builder_close(b);
    return status;
}

/* Lets each operation fail in its turn. */
static void check_every_failure(bool partial)
{
    fault_allocator memory;
    fault_allocator_init(&memory, 0);
    ksv_file_system inner;
    assert_int_equal(memory_file_system_open(NULL, &inner, NULL), KSV_OK);
    fault_file_system fault;
    fault_file_system_open(&fault, &inner);
    fault.plan.operations = FAULT_ALL;
    fault.plan.os_errno = ENOSPC;
    fault.plan.partial_append = partial;
    put_old(&inner, "f.ksf");
    uint64_t failures = 0;
    bool is_hit = true;
    for (uint64_t at = 1; is_hit; at++) {
        ksv_error error = {0};
        fault_file_system_reset(&fault);
        fault.plan.at = at;
        ksv_status status = add(&fault.fs, "f.ksf", &memory.allocator, &error);
        is_hit = fault_file_system_count(&fault) >= at;
        assert_int_equal(fault_file_system_open_files(&fault), 0);
        assert_true(fault_allocator_is_clean(&memory));
        content now = look(&inner, "f.ksf");
        /* What only closes or tidies up may fail unnoticed. */
        assert_true(now == NEW || (now == OLD && status != KSV_OK));
        if (status != KSV_OK) {
            failures++;
            assert_int_equal(status, KSV_ERROR_IO);
            assert_int_equal(error.os_errno, ENOSPC);
        }
        assert_int_equal(look(&inner, "f.ksf.tmp"), NOTHING);
        put_old(&inner, "f.ksf");
    }
    /* Two openings with their reads, the lock, the file and the directory. */
    assert_true(failures > 15);
    fault_file_system_close(&fault);
    memory_file_system_close(&inner);
}

static void test_every_failure_leaves_old_or_new(void **state)
{
    (void)state;
    check_every_failure(false);
    check_every_failure(true);
}

static void test_no_memory(void **state)
{
    (void)state;
    ksv_file_system fs;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    put_old(&fs, "f.ksf");
    ksv_status status = KSV_ERROR_MEMORY;
    for (size_t fail_at = 1; status != KSV_OK; fail_at++) {
        fault_allocator memory;
        fault_allocator_init(&memory, fail_at);
        status = add(&fs, "f.ksf", &memory.allocator, NULL);
        assert_true(fault_allocator_is_clean(&memory));
        assert_true(status == KSV_OK || status == KSV_ERROR_MEMORY);
        assert_int_equal(look(&fs, "f.ksf"), status == KSV_OK ? NEW : OLD);
        assert_true(fail_at < 100);
    }
    memory_file_system_close(&fs);
}

typedef struct crash {
    temp_dir dir;
    fault_file_system fault;
    char name[TEMP_DIR_PATH_BYTES];
} crash;

/* Returns 0 once the file is durable. */
static int add_durably(void *ctx)
{
    crash *c = ctx;
    return add(&c->fault.fs, c->name, NULL, NULL) == KSV_OK ? 0 : 1;
}

/* Ends the process before each change, and then maybe the power; afterwards
 * keys can be added as if nothing had been. */
static void check_kill_points(bool lose_power)
{
    static crash c;
    const ksv_file_system *real = ksv_posix_file_system();
    int code = -1;
    for (uint64_t at = 1; code != 0; at++) {
        char keep[TEMP_DIR_PATH_BYTES];
        char directory[TEMP_DIR_PATH_BYTES];
        temp_dir_make(&c.dir);
        temp_dir_path(&c.dir, "keep", keep);
        temp_dir_path(&c.dir, "d", directory);
        temp_dir_path(&c.dir, "d/f.ksf", c.name);
        assert_int_equal(real->make_directory(NULL, keep, NULL), KSV_OK);
        assert_int_equal(real->make_directory(NULL, directory, NULL), KSV_OK);
        put_old(real, c.name);
        fault_file_system_open(&c.fault, real);
        fault_file_system_track(&c.fault, keep);
        c.fault.plan = (fault_plan){.operations = FAULT_CHANGES,
                                    .at = at,
                                    .partial_append = true,
                                    .kill = true};
        code = fault_run_forked(add_durably, &c);
        assert_true(code == FAULT_EXIT_CODE || code == 0);
        if (lose_power)
            fault_file_system_lose_power(&c.fault);
        content now = look(real, c.name);
        assert_true(now == NEW || (now == OLD && code != 0));
        assert_int_equal(add(real, c.name, NULL, NULL), KSV_OK);
        assert_int_equal(look(real, c.name), NEW);
        fault_file_system_close(&c.fault);
        temp_dir_remove(&c.dir);
    }
}

static void test_a_killed_process_leaves_old_or_new(void **state)
{
    (void)state;
    check_kill_points(false);
    check_kill_points(true);
}

/* Two that have read the same file: what the first adds stays. */
static void test_nothing_of_others_is_lost(void **state)
{
    (void)state;
    ksv_file_system fs;
    ksv_filter_builder *late;
    ksv_error error;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    put_old(&fs, "f.ksf");
    assert_int_equal(
        ksv_filter_builder_open_file(&fs, "f.ksf", NULL, &late, NULL), KSV_OK);
    ksv_filter_builder_add(late, test_hash(2, 0));
    assert_int_equal(add(&fs, "f.ksf", NULL, NULL), KSV_OK);
    assert_int_equal(ksv_filter_builder_update(late, &fs, "f.ksf", NULL),
                     KSV_OK);
    assert_int_equal(look(&fs, "f.ksf"), NEW);
    ksv_filter_builder_close(late);
    assert_int_equal(
        ksv_filter_builder_open_file(&fs, "f.ksf", NULL, &late, NULL), KSV_OK);
    assert_true(ksv_filter_builder_may_contain(late, test_hash(2, 0)));
    ksv_file *lock;
    assert_int_equal(fs.lock(fs.ctx, "f.ksf.lock", &lock, NULL), KSV_OK);
    assert_int_equal(ksv_filter_builder_update(late, &fs, "f.ksf", &error),
                     KSV_ERROR_BUSY);
    assert_string_equal(error.path, "f.ksf");
    assert_int_equal(ksv_filter_builder_save(late, &fs, "f.ksf", NULL),
                     KSV_ERROR_BUSY);
    assert_int_equal(lock->ops->close(lock, NULL), KSV_OK);
    assert_int_equal(ksv_filter_builder_update(late, &fs, "f.ksf", NULL),
                     KSV_OK);
    ksv_filter_builder_close(late);
    memory_file_system_close(&fs);
}

/* One of another shape that has taken its place, and one of an index. */
static void test_other_filters_stay(void **state)
{
    (void)state;
    ksv_file_system fs;
    ksv_filter_builder *b;
    ksv_filter_builder *other;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    put_old(&fs, "f.ksf");
    assert_int_equal(ksv_filter_builder_open_file(&fs, "f.ksf", NULL, &b, NULL),
                     KSV_OK);
    ksv_filter_options o = options();
    o.plan.blocks++;
    assert_int_equal(ksv_filter_builder_open(&o, NULL, &other, NULL), KSV_OK);
    assert_int_equal(ksv_filter_builder_save(other, &fs, "f.ksf", NULL),
                     KSV_OK);
    ksv_filter_builder_add(b, 1);
    assert_int_equal(ksv_filter_builder_update(b, &fs, "f.ksf", NULL),
                     KSV_ERROR_MISMATCH);
    ksv_filter_builder_close(b);
    ksv_filter_builder_close(other);
    o.is_standalone = false;
    assert_int_equal(ksv_filter_builder_open(&o, NULL, &other, NULL), KSV_OK);
    assert_int_equal(ksv_filter_builder_save(other, &fs, "i.ksf", NULL),
                     KSV_OK);
    assert_int_equal(ksv_filter_builder_update(other, &fs, "i.ksf", NULL),
                     KSV_ERROR_MISMATCH);
    ksv_filter_builder_close(other);
    memory_file_system_close(&fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_failure_leaves_old_or_new),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_a_killed_process_leaves_old_or_new),
        cmocka_unit_test(test_nothing_of_others_is_lost),
        cmocka_unit_test(test_other_filters_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
