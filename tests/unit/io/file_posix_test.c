/* SPDX-License-Identifier: MIT */
/* The file system of the operating system, one operation at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/file.h"
#include "support/temp_dir.h"

typedef struct fixture {
    temp_dir dir;
    const ksv_file_system *fs;
    ksv_error error;
    char path[TEMP_DIR_PATH_BYTES];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    temp_dir_make(&f.dir);
    f.fs = ksv_posix_file_system();
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    temp_dir_remove(&f->dir);
    return 0;
}

static const char *at(fixture *f, const char *name)
{
    return temp_dir_path(&f->dir, name, f->path);
}

static void test_what_was_appended_is_read(void **state)
{
    fixture *f = *state;
    ksv_file *file;
    assert_int_equal(f->fs->create(NULL, at(f, "a"), &file, &f->error), KSV_OK);
    assert_int_equal(file->ops->append(file, "hello ", 6, NULL), KSV_OK);
    assert_int_equal(file->ops->append(file, "", 0, NULL), KSV_OK);
    assert_int_equal(file->ops->append(file, "world", 5, NULL), KSV_OK);
    assert_int_equal(file->ops->sync(file, &f->error), KSV_OK);
    char buffer[16];
    size_t got = 9;
    assert_int_equal(file->ops->read_at(file, 0, buffer, 1, &got, &f->error),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(got, 0);
    assert_string_equal(f->error.path, at(f, "a"));
    assert_int_equal(file->ops->close(file, &f->error), KSV_OK);

    assert_int_equal(f->fs->open_read(NULL, at(f, "a"), &file, &f->error),
                     KSV_OK);
    assert_int_equal(file->ops->read_at(file, 6, buffer, 16, &got, NULL),
                     KSV_OK);
    assert_int_equal(got, 5);
    assert_memory_equal(buffer, "world", 5);
    static const uint64_t past_the_end[] = {11, 12, INT64_MAX - 1, INT64_MAX,
                                            UINT64_MAX};
    for (size_t i = 0; i < sizeof past_the_end / sizeof past_the_end[0]; i++) {
        got = 9;
        assert_int_equal(file->ops->read_at(file, past_the_end[i], buffer, 16,
                                            &got, &f->error),
                         KSV_OK);
        assert_int_equal(got, 0);
    }
    assert_int_equal(file->ops->append(file, "x", 1, &f->error),
                     KSV_ERROR_ARGUMENT);
    assert_int_equal(file->ops->sync(file, &f->error), KSV_ERROR_ARGUMENT);
    ksv_file_info info, by_path;
    assert_int_equal(file->ops->info(file, &info, NULL), KSV_OK);
    assert_int_equal(f->fs->info(NULL, at(f, "a"), &by_path, NULL), KSV_OK);
    assert_true(info.inode == by_path.inode && info.device == by_path.device);
    assert_true(info.mtime_ns == by_path.mtime_ns);
    assert_true(info.ctime_ns == by_path.ctime_ns);
    assert_true(info.size_bytes == 11 && info.kind == KSV_FILE_REGULAR);
    assert_true(info.mtime_ns > 0 && info.inode != 0);
    file_close_quietly(file);
}

static void test_create_empties_what_was_there(void **state)
{
    fixture *f = *state;
    temp_dir_write(&f->dir, "a", "old", 3);
    ksv_file *file;
    assert_int_equal(f->fs->create(NULL, at(f, "a"), &file, NULL), KSV_OK);
    assert_int_equal(file->ops->close(file, NULL), KSV_OK);
    ksv_file_info info;
    assert_int_equal(f->fs->info(NULL, at(f, "a"), &info, NULL), KSV_OK);
    assert_true(info.size_bytes == 0);
}

static void test_errors_name_the_path_and_the_reason(void **state)
{
    fixture *f = *state;
    ksv_file *file = (ksv_file *)f;
    assert_int_equal(f->fs->open_read(NULL, at(f, "no"), &file, &f->error),
                     KSV_ERROR_IO);
    assert_null(file);
    assert_int_equal(f->error.os_errno, ENOENT);
    assert_true(file_error_is_missing(&f->error));
    assert_string_equal(f->error.text,
                        "cannot open: No such file or directory");
    assert_string_equal(f->error.path, at(f, "no"));
    assert_int_equal(f->fs->open_read(NULL, f->dir.path, &file, &f->error),
                     KSV_ERROR_IO);
    assert_int_equal(f->error.os_errno, EISDIR);
    assert_false(file_error_is_missing(&f->error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_was_appended_is_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_create_empties_what_was_there,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_errors_name_the_path_and_the_reason, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
