/* SPDX-License-Identifier: MIT */
/* One process at a time changes a file that is replaced as a whole. */
#include "filter/update_lock.h"

#include <stdbool.h>

#include "base/error.h"
#include "io/file.h"

#define ENDING ".lock"

/* How often a lock may turn out to be that of a removed file. */
#define MOST_TRIES 1000

/* The holder removes the file before it lets go. Who had opened it by then gets
 * the lock of a file without a name: it has to be the one that has the name. */
static ksv_status is_named(const update_lock *lock, bool *named,
                           ksv_error *error)
{
    ksv_file_info held;
    ksv_file_info there;
    ksv_error missing;
    *named = false;
    KSV_TRY(lock->file->ops->info(lock->file, &held, error));
    if (lock->fs->info(lock->fs->ctx, lock->path, &there, &missing) == KSV_OK) {
        *named = held.inode == there.inode && held.device == there.device;
        return KSV_OK;
    }
    if (file_error_is_missing(&missing))
        return KSV_OK;
    if (error != NULL)
        *error = missing;
    return missing.status;
}

static ksv_status take(update_lock *lock, ksv_error *error)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        bool named;
        KSV_TRY(lock->fs->lock(lock->fs->ctx, lock->path, &lock->file, error));
        ksv_status status = is_named(lock, &named, error);
        if (status == KSV_OK && named)
            return KSV_OK;
        file_close_quietly(lock->file);
        lock->file = NULL;
        KSV_TRY(status);
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
