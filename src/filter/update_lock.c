/* SPDX-License-Identifier: MIT */
/* One process at a time changes a file that is replaced as a whole. */
#include "filter/update_lock.h"

#include "base/error.h"
#include "io/file.h"
#include "io/named_lock.h"

#define ENDING ".lock"

/* How often a lock may turn out to be that of a removed file. */
#define MOST_TRIES 1000

static ksv_status take(update_lock *lock, ksv_error *error)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        KSV_TRY(named_lock_try(lock->fs, lock->path, &lock->file, error));
        if (lock->file != NULL)
            return KSV_OK;
    }
    return error_set(error, KSV_ERROR_BUSY, lock->path,
                     "is locked by another process");
}

ksv_status update_lock_take(update_lock *lock, const ksv_file_system *fs,
                            const char *path, const ksv_allocator *a,
                            ksv_error *error)
{
    *lock = (update_lock){.fs = fs, .path = path_append(a, path, ENDING)};
    if (lock->path == NULL)
        return error_set_memory(error);
    ksv_status status = take(lock, error);
    if (status == KSV_ERROR_BUSY)
        error_set(error, KSV_ERROR_BUSY, path,
                  "another process is changing this filter");
    if (status != KSV_OK)
        memory_free_string(a, lock->path);
    return status;
}

void update_lock_release(update_lock *lock, const ksv_allocator *a)
{
    /* A lock file that stays does no harm. */
    ksv_status ignored = lock->fs->remove(lock->fs->ctx, lock->path, NULL);
    (void)ignored;
    file_close_quietly(lock->file);
    memory_free_string(a, lock->path);
}
