/* SPDX-License-Identifier: MIT */
/* Whether a data file is still what it was when it was indexed. */
#ifndef KSV_CATALOG_FILE_IDENTITY_H
#define KSV_CATALOG_FILE_IDENTITY_H

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "catalog/catalog.h"

typedef enum file_identity {
    /* Size, times and inode are those recorded, the device as well or the
     * fingerprint instead: device numbers change when a system starts anew. */
    FILE_IDENTITY_SAME = 0,
    /* Times or inode differ, size and fingerprint do not: touched or copied, or
     * changed where the fingerprint has no sample. */
    FILE_IDENTITY_TOUCHED = 1,
    FILE_IDENTITY_CHANGED = 2,
    /* Longer than recorded, with the recorded fingerprint as its beginning. */
    FILE_IDENTITY_GROWN = 3,
    FILE_IDENTITY_MISSING = 4
} file_identity;

/* Where a data file lies: `directory` (of the index) and its relative path, or
 * the path as given when that was absolute and nothing lies at the former.
 * Freed with memory_free_string(). */
ksv_status file_identity_path(const ksv_file_system *fs, const char *directory,
                              const catalog_file *file,
                              const ksv_allocator *allocator, char **out,
                              ksv_error *error);

/* Compares the file at `path` with what `file` records; reads it only when size
 * and times leave a doubt. `*info` is what the file was when that was found
 * out, all zero when there is none. */
ksv_status file_identity_look(const ksv_file_system *fs, const char *path,
                              const catalog_file *file, file_identity *identity,
                              ksv_file_info *info, ksv_error *error);

/* Takes times, inode and device from `info`. */
void file_identity_record(catalog_file *file, const ksv_file_info *info);

/* Fills `error` for a data file that is not what was indexed: names it as the
 * user gave it, says what happened and that an update repairs it. Returns
 * KSV_ERROR_STALE. */
ksv_status file_identity_error(const catalog_file *file, file_identity identity,
                               ksv_error *error);

#endif
