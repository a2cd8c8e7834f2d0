/* SPDX-License-Identifier: MIT */
/* How many bytes the files of an index take. */
#ifndef KSV_CATALOG_DIRECTORY_SIZE_H
#define KSV_CATALOG_DIRECTORY_SIZE_H

#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

/* The sum of the sizes of all regular files in `directory`. One that vanishes
 * meanwhile counts 0. */
ksv_status directory_size(const ksv_file_system *fs, const char *directory,
                          const ksv_allocator *allocator, uint64_t *size_bytes,
                          ksv_error *error);

#endif
