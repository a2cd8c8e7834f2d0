/* SPDX-License-Identifier: MIT */
/* Many files published together: all of them, or none after a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "io/file.h"
#include "io/publish_queue.h"
#include "support/fault_file_system.h"
#include "support/temp_dir.h"

enum { FILES = 70 };

static ksv_status publish_files(const ksv_file_system *fs, const char *path,
                                ksv_error *error)
{
    publish_queue *queue;
    ksv_status status = publish_queue_open(FILES, NULL, &queue, error);
    assert_int_equal(status, KSV_OK);
    for (int i = 0; i < FILES && status == KSV_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "f%d", i);
        atomic_file *file;
        status = atomic_file_create(fs, path, name, NULL, &file, error);
        if (status != KSV_OK)
            break;
        ksv_file *handle = atomic_file_handle(file);
        status = handle->ops->append(handle, name, strlen(name), error);
        if (status == KSV_OK)
            status = publish_queue_add(queue, file, error);
        else
            atomic_file_abandon(file);
    }
    if (status == KSV_OK)
        status = publish_queue_finish(queue, error);
    publish_queue_close(queue);
    return status;
}

/* What is in the directory: whole files, and whether anything else is. */
typedef struct listing {
    const char *path;
    int whole;
    int other;
} listing;

static bool look(void *ctx, const char *name)
{
    listing *l = ctx;
    char path[TEMP_DIR_PATH_BYTES], text[32] = {0};
    snprintf(path, sizeof path, "%s/%s", l->path, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t got = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    bool whole = got == strlen(name) && strcmp(text, name) == 0;
    l->whole += whole;
    l->other += !whole;
    return true;
}

static listing list(const char *path)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    listing l = {path, 0, 0};
    assert_int_equal(fs->list(fs->ctx, path, look, &l, NULL), KSV_OK);
    return l;
}

static void test_all_are_published(void **state)
{
    (void)state;
    temp_dir dir;
    temp_dir_make(&dir);
    assert_int_equal(publish_files(ksv_posix_file_system(), dir.path, NULL),
                     KSV_OK);
    listing l = list(dir.path);
    assert_int_equal(l.whole, FILES);
    assert_int_equal(l.other, 0);
    temp_dir_remove(&dir);
}

/* No temporary file stays, none is renamed without a sync. */
static void test_failures(void **state)
{
    (void)state;
    static const unsigned operations[] = {FAULT_SYNC, FAULT_RENAME,
                                          FAULT_CREATE, FAULT_APPEND};
    for (size_t i = 0; i < 4; i++)
        for (uint64_t at = 1; at <= FILES; at += 23) {
            temp_dir dir;
            temp_dir_make(&dir);
            fault_file_system faults;
            fault_file_system_open(&faults, ksv_posix_file_system());
            faults.plan = (fault_plan){
                .operations = operations[i], .at = at, .os_errno = EIO};
            ksv_error error;
            assert_int_equal(publish_files(&faults.fs, dir.path, &error),
                             KSV_ERROR_IO);
            assert_int_equal(error.os_errno, EIO);
            assert_int_equal(fault_file_system_open_files(&faults), 0);
            listing l = list(dir.path);
            assert_int_equal(l.other, 0);
            assert_true(l.whole < FILES);
            fault_file_system_close(&faults);
            temp_dir_remove(&dir);
        }
}

/* A file whose sync fails does not get its name. */
static void test_first_failure_is_kept(void **state)
{
    (void)state;
    temp_dir dir;
    temp_dir_make(&dir);
    fault_file_system faults;
    fault_file_system_open(&faults, ksv_posix_file_system());
    faults.plan = (fault_plan){
        .operations = FAULT_SYNC, .at = 1, .os_errno = EIO, .and_later = true};
    assert_int_equal(publish_files(&faults.fs, dir.path, NULL), KSV_ERROR_IO);
    listing l = list(dir.path);
    assert_int_equal(l.whole + l.other, 0);
    fault_file_system_close(&faults);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_published),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_first_failure_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
