/* SPDX-License-Identifier: MIT */
/* Files that are put together in memory: whole or not there. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "io/buffer_file.h"
#include "io/file.h"
#include "support/fault_file_system.h"
#include "support/temp_dir.h"

static void test_whole_or_not_there(void **state)
{
    (void)state;
    ksv_allocator a = allocator_or_default(NULL);
    temp_dir dir;
    fault_file_system faults;
    buffer_file file;
    char path[TEMP_DIR_PATH_BYTES];
    const ksv_file_system *fs = ksv_posix_file_system();
    temp_dir_make(&dir);
    temp_dir_path(&dir, "a.ksf", path);
    fault_file_system_open(&faults, fs);
    buffer_file_init(&file, &a);
    ksv_file *base = &file.base;
    ksv_file_info info;
    assert_int_equal(base->ops->append(base, "hal", 3, NULL), KSV_OK);
    assert_int_equal(base->ops->append(base, "f", 1, NULL), KSV_OK);
    assert_int_equal(base->ops->info(base, &info, NULL), KSV_OK);
    assert_int_equal(info.size_bytes, 4);
    assert_int_equal(base->ops->sync(base, NULL), KSV_ERROR_ARGUMENT);
    for (uint64_t at = 1; at <= 3; at++) {
        ksv_error error;
        fault_file_system_reset(&faults);
        faults.plan = (fault_plan){.operations = FAULT_CREATE | FAULT_APPEND |
                                                 FAULT_CLOSE,
                                   .at = at,
                                   .os_errno = ENOSPC,
                                   .partial_append = true};
        assert_int_equal(
            buffer_file_write(&file, &faults.fs, dir.path, "a.ksf", &error),
            KSV_ERROR_IO);
        assert_string_equal(error.path, path);
        assert_int_equal(fs->info(fs->ctx, path, &info, NULL), KSV_ERROR_IO);
    }
    assert_int_equal(buffer_file_write(&file, fs, dir.path, "a.ksf", NULL),
                     KSV_OK);
    byte_buffer read;
    buffer_init(&read, &a);
    assert_int_equal(file_read_all(fs, path, 100, &read, NULL), KSV_OK);
    assert_int_equal(read.size, 4);
    assert_memory_equal(read.data, "half", 4);
    buffer_release(&read);
    if (fs->sync_files != NULL)
        assert_int_equal(fs->sync_files(fs->ctx, dir.path, NULL), KSV_OK);
    buffer_file_release(&file);
    fault_file_system_close(&faults);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_or_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
