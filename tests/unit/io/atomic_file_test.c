/* SPDX-License-Identifier: MIT */
/* Files appear whole or not at all, whatever fails, and when power is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/fault_file_system.h"
#include "support/temp_dir.h"

static const char CONTENT[] = "all of it or nothing";

/* Writes CONTENT in two pieces. */
static ksv_status write_whole(const ksv_file_system *fs, const char *directory,
                              const ksv_allocator *allocator, ksv_error *error)
{
    atomic_file *file;
    ksv_status status =
        atomic_file_create(fs, directory, "name.ksf", allocator, &file, error);
    if (status != KSV_OK)
        return status;
    ksv_file *handle = atomic_file_handle(file);
    status = handle->ops->append(handle, CONTENT, 7, error);
    if (status == KSV_OK)
        status =
            handle->ops->append(handle, CONTENT + 7, sizeof CONTENT - 7, error);
    if (status == KSV_OK)
        return atomic_file_publish(file, error);
    atomic_file_abandon(file);
    return status;
}

typedef enum found { NOTHING, OLD, WHOLE, SOMETHING_ELSE } found;

static found look(const ksv_file_system *fs, const char *path)
{
    ksv_allocator a = allocator_or_default(NULL);
    byte_buffer out;
    buffer_init(&out, &a);
    ksv_error error;
    found result = SOMETHING_ELSE;
    if (file_read_all(fs, path, 1000, &out, &error) != KSV_OK)
        result = file_error_is_missing(&error) ? NOTHING : SOMETHING_ELSE;
    else if (out.size == 3 && memcmp(out.data, "old", 3) == 0)
        result = OLD;
    else if (out.size == sizeof CONTENT &&
             memcmp(out.data, CONTENT, sizeof CONTENT) == 0)
        result = WHOLE;
    buffer_release(&out);
    return result;
}

static void put_old(const ksv_file_system *fs, const char *path)
{
    ksv_file *file;
    assert_int_equal(fs->create(fs->ctx, path, &file, NULL), KSV_OK);
    assert_int_equal(file->ops->append(file, "old", 3, NULL), KSV_OK);
    assert_int_equal(file->ops->sync(file, NULL), KSV_OK);
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
}

/* Lets each operation fail in its turn, over an old file or none. */
static void check_every_failure(bool with_old, bool partial)
{
    fault_allocator memory;
    fault_allocator_init(&memory, 0);
    ksv_file_system inner;
    assert_int_equal(memory_file_system_open(&memory.allocator, &inner, NULL),
                     KSV_OK);
    fault_file_system fault;
    fault_file_system_open(&fault, &inner);
    fault.plan.os_errno = ENOSPC;
    fault.plan.partial_append = partial;
    assert_int_equal(inner.make_directory(inner.ctx, "d", NULL), KSV_OK);
    if (with_old)
        put_old(&inner, "d/name.ksf");
    found before = with_old ? OLD : NOTHING;
    ksv_status status = KSV_ERROR_IO;
    uint64_t failures = 0;
    while (status != KSV_OK) {
        fault_file_system_reset(&fault);
        fault.plan.at = failures + 1;
        ksv_error error;
        status = write_whole(&fault.fs, "d", &memory.allocator, &error);
        assert_int_equal(fault_file_system_open_files(&fault), 0);
        if (status != KSV_OK) {
            failures++;
            assert_int_equal(status, KSV_ERROR_IO);
            assert_int_equal(error.os_errno, ENOSPC);
        }
        assert_int_equal(look(&inner, "d/name.ksf"),
                         status == KSV_OK ? WHOLE : before);
        assert_int_equal(look(&inner, "d/name.ksf.tmp"), NOTHING);
    }
    /* Create, two appends, sync, close, rename. */
    assert_int_equal(failures, 6);
    fault_file_system_close(&fault);
    memory_file_system_close(&inner);
    assert_true(fault_allocator_is_clean(&memory));
}

static void test_every_failure_leaves_what_was_there(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        check_every_failure(i & 1, i & 2);
}

static void test_nothing_is_seen_before_it_is_whole(void **state)
{
    (void)state;
    ksv_file_system fs;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    atomic_file *file;
    assert_int_equal(atomic_file_create(&fs, "", "a", NULL, &file, NULL),
                     KSV_OK);
    ksv_file *handle = atomic_file_handle(file);
    assert_int_equal(handle->ops->append(handle, CONTENT, sizeof CONTENT, NULL),
                     KSV_OK);
    assert_int_equal(look(&fs, "a"), NOTHING);
    assert_int_equal(look(&fs, "a" ATOMIC_FILE_TEMPORARY), WHOLE);
    assert_int_equal(atomic_file_publish(file, NULL), KSV_OK);
    assert_int_equal(look(&fs, "a"), WHOLE);
    assert_int_equal(atomic_file_create(&fs, "", "a", NULL, &file, NULL),
                     KSV_OK);
    atomic_file_abandon(file);
    atomic_file_abandon(NULL);
    assert_int_equal(look(&fs, "a"), WHOLE);
    assert_int_equal(look(&fs, "a" ATOMIC_FILE_TEMPORARY), NOTHING);
    memory_file_system_close(&fs);
}

static void test_no_memory(void **state)
{
    (void)state;
    ksv_file_system fs;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    for (size_t fail_at = 1; fail_at <= 3; fail_at++) {
        fault_allocator memory;
        fault_allocator_init(&memory, fail_at);
        assert_int_equal(write_whole(&fs, "", &memory.allocator, NULL),
                         KSV_ERROR_MEMORY);
        assert_true(fault_allocator_is_clean(&memory));
        assert_int_equal(look(&fs, "name.ksf"), NOTHING);
        assert_int_equal(look(&fs, "name.ksf.tmp"), NOTHING);
    }
    memory_file_system_close(&fs);
}

typedef struct crash {
    temp_dir dir;
    fault_file_system fault;
    char directory[TEMP_DIR_PATH_BYTES];
    char name[TEMP_DIR_PATH_BYTES];
    char temporary[TEMP_DIR_PATH_BYTES];
} crash;

/* Returns 0 once the file is durable. */
static int publish_durably(void *ctx)
{
    crash *c = ctx;
    const ksv_file_system *fs = &c->fault.fs;
    if (write_whole(fs, c->directory, NULL, NULL) != KSV_OK)
        return 1;
    return fs->sync_directory(fs->ctx, c->directory, NULL) == KSV_OK ? 0 : 2;
}

/* Ends the process before each change, and then maybe the power. */
static void check_kill_points(bool with_old, bool lose_power)
{
    static crash c;
    const ksv_file_system *real = ksv_posix_file_system();
    int code = -1;
    for (uint64_t at = 1; code != 0; at++) {
        char keep[TEMP_DIR_PATH_BYTES];
        temp_dir_make(&c.dir);
        temp_dir_path(&c.dir, "keep", keep);
        temp_dir_path(&c.dir, "d", c.directory);
        temp_dir_path(&c.dir, "d/name.ksf", c.name);
        temp_dir_path(&c.dir, "d/name.ksf.tmp", c.temporary);
        assert_int_equal(real->make_directory(NULL, keep, NULL), KSV_OK);
        assert_int_equal(real->make_directory(NULL, c.directory, NULL), KSV_OK);
        if (with_old)
            put_old(real, c.name);
        fault_file_system_open(&c.fault, real);
        fault_file_system_track(&c.fault, keep);
        c.fault.plan = (fault_plan){.operations = FAULT_CHANGES,
                                    .at = at,
                                    .partial_append = true,
                                    .kill = true};
        code = fault_run_forked(publish_durably, &c);
        assert_true(code == FAULT_EXIT_CODE || code == 0);
        bool renamed = at > 5; /* create, two appends, sync, rename */
        found before = with_old ? OLD : NOTHING;
        assert_int_equal(look(real, c.name), renamed ? WHOLE : before);
        if (lose_power)
            fault_file_system_lose_power(&c.fault);
        bool durable = lose_power ? code == 0 : renamed;
        assert_int_equal(look(real, c.name), durable ? WHOLE : before);
        fault_file_system_close(&c.fault);
        temp_dir_remove(&c.dir);
    }
}

static void test_a_killed_process_leaves_old_or_new(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        check_kill_points(i & 1, i & 2);
}

static void test_a_file_that_others_write(void **state)
{
    (void)state;
    ksv_file_system fs;
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    for (int is_published = 0; is_published < 2; is_published++) {
        atomic_file *file;
        ksv_file *other;
        assert_int_equal(atomic_file_adopt(&fs, "", "a", NULL, &file, NULL),
                         KSV_OK);
        assert_null(atomic_file_handle(file));
        assert_int_equal(
            fs.create(fs.ctx, "a" ATOMIC_FILE_TEMPORARY, &other, NULL), KSV_OK);
        assert_int_equal(
            other->ops->append(other, CONTENT, sizeof CONTENT, NULL), KSV_OK);
        assert_int_equal(other->ops->close(other, NULL), KSV_OK);
        if (is_published)
            assert_int_equal(atomic_file_publish(file, NULL), KSV_OK);
        else
            atomic_file_abandon(file);
        assert_int_equal(look(&fs, "a"), is_published ? WHOLE : NOTHING);
        assert_int_equal(look(&fs, "a" ATOMIC_FILE_TEMPORARY), NOTHING);
    }
    /* What was never written cannot be published. */
    atomic_file *file;
    assert_int_equal(atomic_file_adopt(&fs, "", "b", NULL, &file, NULL),
                     KSV_OK);
    assert_int_equal(atomic_file_publish(file, NULL), KSV_ERROR_IO);
    assert_int_equal(look(&fs, "b"), NOTHING);
    memory_file_system_close(&fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_failure_leaves_what_was_there),
        cmocka_unit_test(test_nothing_is_seen_before_it_is_whole),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_a_killed_process_leaves_old_or_new),
        cmocka_unit_test(test_a_file_that_others_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
