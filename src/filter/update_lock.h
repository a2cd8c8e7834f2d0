/* SPDX-License-Identifier: MIT */
/* One process at a time changes a file that is replaced as a whole. */
#ifndef KSV_FILTER_UPDATE_LOCK_H
#define KSV_FILTER_UPDATE_LOCK_H

#include <keysieve/io.h>

#include "base/memory.h"

typedef struct update_lock {
    const ksv_file_system *fs; /* borrowed */
    char *path;                /* of the lock file */
    ksv_file *file;
} update_lock;

/* Takes the lock of `path`; KSV_ERROR_BUSY when another has it. On
 * failure there is nothing to release. */
ksv_status update_lock_take(update_lock *lock, const ksv_file_system *fs,
                            const char *path, const ksv_allocator *a,
                            ksv_error *error);
/* `a` as it was given at first. */
void update_lock_release(update_lock *lock, const ksv_allocator *a);

#endif
