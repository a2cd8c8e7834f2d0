/* SPDX-License-Identifier: MIT */
/* Locks of files that their holders remove when they are done. */
#include "io/named_lock.h"

#include "base/error.h"
#include "io/file.h"

/* The holder removes the file before it lets go. Who had opened it by then gets
 * the lock of a file without a name: it has to be the one that has the name. */
static ksv_status is_named(const ksv_file_system *fs, const char *path,
                           ksv_file *lock, bool *named, ksv_error *error)
{
    ksv_file_info held;
    ksv_file_info there;
    ksv_error missing;
    *named = false;
    KSV_TRY(lock->ops->info(lock, &held, error));
    if (fs->info(fs->ctx, path, &there, &missing) == KSV_OK) {
        *named = held.inode == there.inode && held.device == there.device;
        return KSV_OK;
    }
    if (file_error_is_missing(&missing))
        return KSV_OK;
    if (error != NULL)
        *error = missing;
    return missing.status;
}

ksv_status named_lock_try(const ksv_file_system *fs, const char *path,
                          ksv_file **lock, ksv_error *error)
{
    bool named;
    ksv_file *file;
    *lock = NULL;
    KSV_TRY(fs->lock(fs->ctx, path, &file, error));
    ksv_status status = is_named(fs, path, file, &named, error);
    if (status == KSV_OK && named)
        *lock = file;
    else
        file_close_quietly(file);
    return status;
}
