/* SPDX-License-Identifier: MIT */
/* Failures come where they were asked for; lost power takes what was not
 * synced, and no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/file.h"
#include "support/fault_allocator.h"
#include "support/fault_file_system.h"
#include "support/temp_dir.h"

typedef struct fixture {
    temp_dir dir;
    fault_file_system fault;
    const ksv_file_system *fs; /* with faults */
    char d[TEMP_DIR_PATH_BYTES];
    char a[TEMP_DIR_PATH_BYTES];
    char b[TEMP_DIR_PATH_BYTES];
    char sub[TEMP_DIR_PATH_BYTES];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    char keep[TEMP_DIR_PATH_BYTES];
    temp_dir_path(&f.dir, "keep", keep);
    temp_dir_path(&f.dir, "d", f.d);
    temp_dir_path(&f.dir, "d/a", f.a);
    temp_dir_path(&f.dir, "d/b", f.b);
    temp_dir_path(&f.dir, "d/sub", f.sub);
    const ksv_file_system *real = ksv_posix_file_system();
    if (real->make_directory(NULL, keep, NULL) != KSV_OK ||
        real->make_directory(NULL, f.d, NULL) != KSV_OK)
        return 1;
    fault_file_system_open(&f.fault, real);
    fault_file_system_track(&f.fault, keep);
    f.fs = &f.fault.fs;
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    fault_file_system_close(&f->fault);
    temp_dir_remove(&f->dir);
    return 0;
}

static void check_content(const char *path, const char *expected)
{
    ksv_allocator a = allocator_or_default(NULL);
    byte_buffer out;
    buffer_init(&out, &a);
    ksv_error e;
    ksv_status status =
        file_read_all(ksv_posix_file_system(), path, 1000, &out, &e);
    if (expected == NULL) {
        assert_int_equal(status, KSV_ERROR_IO);
        assert_true(file_error_is_missing(&e));
    } else {
        assert_int_equal(status, KSV_OK);
        assert_int_equal(out.size, strlen(expected));
        if (out.size > 0)
            assert_memory_equal(out.data, expected, out.size);
    }
    buffer_release(&out);
}

static void write_file(fixture *f, const char *path, const char *synced,
                       const char *unsynced)
{
    ksv_file *file;
    assert_int_equal(f->fs->create(f->fs->ctx, path, &file, NULL), KSV_OK);
    assert_int_equal(file->ops->append(file, synced, strlen(synced), NULL),
                     KSV_OK);
    if (synced[0] != '\0')
        assert_int_equal(file->ops->sync(file, NULL), KSV_OK);
    assert_int_equal(file->ops->append(file, unsynced, strlen(unsynced), NULL),
                     KSV_OK);
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
}

static void sync_directory(fixture *f)
{
    assert_int_equal(f->fs->sync_directory(f->fs->ctx, f->d, NULL), KSV_OK);
}

static void test_unsynced_bytes_are_lost(void **state)
{
    fixture *f = *state;
    write_file(f, f->a, "kept", " lost");
    write_file(f, f->b, "", "lost");
    sync_directory(f);
    check_content(f->a, "kept lost");
    fault_file_system_lose_power(&f->fault);
    check_content(f->a, "kept");
    check_content(f->b, "");
}

static void test_unsynced_names_are_lost(void **state)
{
    fixture *f = *state;
    write_file(f, f->a, "synced", "");
    assert_int_equal(f->fs->make_directory(f->fs->ctx, f->sub, NULL), KSV_OK);
    fault_file_system_lose_power(&f->fault);
    check_content(f->a, NULL);
    assert_int_equal(access(f->sub, F_OK), -1);
}

static void test_unsynced_renames_are_undone(void **state)
{
    fixture *f = *state;
    write_file(f, f->a, "new", "");
    write_file(f, f->b, "old", "");
    sync_directory(f);
    assert_int_equal(f->fs->rename(f->fs->ctx, f->a, f->b, NULL), KSV_OK);
    check_content(f->b, "new");
    fault_file_system_lose_power(&f->fault);
    check_content(f->a, "new");
    check_content(f->b, "old");
}

static void test_synced_renames_stay(void **state)
{
    fixture *f = *state;
    write_file(f, f->a, "new", "+");
    write_file(f, f->b, "old", "");
    assert_int_equal(f->fs->rename(f->fs->ctx, f->a, f->b, NULL), KSV_OK);
    sync_directory(f);
    fault_file_system_lose_power(&f->fault);
    check_content(f->a, NULL);
    check_content(f->b, "new");
}

static void test_removals(void **state)
{
    fixture *f = *state;
    write_file(f, f->a, "one", "+");
    write_file(f, f->b, "two", "");
    assert_int_equal(f->fs->make_directory(f->fs->ctx, f->sub, NULL), KSV_OK);
    assert_int_equal(f->fs->remove(f->fs->ctx, f->b, NULL), KSV_OK);
    sync_directory(f);
    assert_int_equal(f->fs->remove(f->fs->ctx, f->a, NULL), KSV_OK);
    assert_int_equal(f->fs->remove_directory(f->fs->ctx, f->sub, NULL), KSV_OK);
    fault_file_system_lose_power(&f->fault);
    check_content(f->a, "one");
    check_content(f->b, NULL);
    assert_int_equal(access(f->sub, F_OK), 0);
}

static int use_in_child(void *ctx)
{
    fixture *f = ctx;
    write_file(f, f->a, "kept", "lost");
    sync_directory(f);
    write_file(f, f->b, "lost", "");
    return 0;
}

static void test_a_parent_sees_what_its_child_did(void **state)
{
    fixture *f = *state;
    f->fault.plan =
        (fault_plan){.operations = FAULT_CHANGES, .at = 7, .kill = true};
    /* Create, append, sync, append, sync directory, create, and no append. */
    assert_int_equal(fault_run_forked(use_in_child, f), FAULT_EXIT_CODE);
    assert_int_equal(fault_file_system_count(&f->fault), 7);
    check_content(f->b, "");
    fault_file_system_lose_power(&f->fault);
    check_content(f->a, "kept");
    check_content(f->b, NULL);
}

static void test_a_fault_strikes_once_or_for_good(void **state)
{
    fixture *f = *state;
    ksv_file *file;
    assert_int_equal(f->fs->create(f->fs->ctx, f->a, &file, NULL), KSV_OK);
    for (int for_good = 0; for_good < 2; for_good++) {
        fault_file_system_reset(&f->fault);
        f->fault.plan = (fault_plan){.operations = FAULT_APPEND,
                                     .at = 2,
                                     .os_errno = ENOSPC,
                                     .partial_append = true,
                                     .and_later = for_good};
        ksv_error e;
        assert_int_equal(file->ops->append(file, "1", 1, &e), KSV_OK);
        assert_int_equal(file->ops->append(file, "23", 2, &e), KSV_ERROR_IO);
        assert_int_equal(e.os_errno, ENOSPC);
        assert_int_equal(file->ops->append(file, "45", 2, &e),
                         for_good ? KSV_ERROR_IO : KSV_OK);
    }
    check_content(f->a, "12451"
                        "24");
    file_close_quietly(file);
}

static int die(void *ctx)
{
    raise(*(int *)ctx);
    return 0;
}

static void test_how_a_child_ended(void **state)
{
    (void)state;
    int signal_number = SIGKILL;
    assert_int_equal(fault_run_forked(die, &signal_number), -SIGKILL);
}

static void test_the_allocator_sees_leaks_and_wrong_sizes(void **state)
{
    (void)state;
    fault_allocator memory;
    fault_allocator_init(&memory, 2);
    const ksv_allocator *a = &memory.allocator;
    void *first = a->alloc(a->ctx, 10);
    assert_non_null(first);
    assert_null(a->alloc(a->ctx, 10));
    assert_false(fault_allocator_is_clean(&memory));
    memset(first, 'x', 10);
    char *moved = a->realloc(a->ctx, first, 10, 20);
    assert_memory_equal(moved, "xxxxxxxxxx", 10);
    assert_int_equal(memory.live_bytes, 20);
    a->free(a->ctx, moved, 20);
    assert_true(fault_allocator_is_clean(&memory));
    a->free(a->ctx, a->alloc(a->ctx, 5), 6);
    assert_false(fault_allocator_is_clean(&memory));
    assert_int_equal(memory.calls, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unsynced_bytes_are_lost),
        TEST(test_unsynced_names_are_lost),
        TEST(test_unsynced_renames_are_undone),
        TEST(test_synced_renames_stay),
        TEST(test_removals),
        TEST(test_a_parent_sees_what_its_child_did),
        TEST(test_a_fault_strikes_once_or_for_good),
        cmocka_unit_test(test_how_a_child_ended),
        cmocka_unit_test(test_the_allocator_sees_leaks_and_wrong_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
