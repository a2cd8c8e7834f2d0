/* SPDX-License-Identifier: MIT */
/* One process at a time changes a file that is replaced as a whole. */
#ifndef KSV_FILTER_UPDATE_LOCK_H
#define KSV_FILTER_UPDATE_LOCK_H

#include <stdbool.h>

#include <keysieve/io.h>

#include "base/memory.h"

/* All zero: not held. */
typedef struct update_lock {
    ksv_file_system fs;
    char *path; /* of the file that is protected; NULL when not held */
    char *lock_path;
    ksv_file *file;
} update_lock;

/* Takes the lock of `path`; KSV_ERROR_BUSY when another has it. `lock` is not
 * held. */
ksv_status update_lock_take(update_lock *lock, const ksv_file_system *fs,
                            const char *path, const ksv_allocator *a,
                            ksv_error *error);
/* Nothing happens when it is not held. `a` as it was given at first. */
void update_lock_release(update_lock *lock, const ksv_allocator *a);

/* Whether the lock is that of `path`. */
bool update_lock_is_of(const update_lock *lock, const char *path);

#endif
