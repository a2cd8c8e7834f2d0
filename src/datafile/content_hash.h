/* SPDX-License-Identifier: MIT */
/* The hash of the whole content of a data file, by reading it. */
#ifndef KSV_DATAFILE_CONTENT_HASH_H
#define KSV_DATAFILE_CONTENT_HASH_H

#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "hash/hash.h"

/* Reads the file at `path` from start to end. `*info` is what it was all the
 * while: one that changes meanwhile is KSV_ERROR_STALE. */
ksv_status datafile_content_hash(const ksv_file_system *fs, const char *path,
                                 const ksv_allocator *allocator,
                                 ksv_file_info *info,
                                 uint8_t hash[HASH_CONTENT_BYTES],
                                 ksv_error *error);

#endif
