/* SPDX-License-Identifier: MIT */
/* A whole file in the address space, mapped when it is first wanted. */
#ifndef KSV_IO_FILE_MAPPING_H
#define KSV_IO_FILE_MAPPING_H

#include <stdint.h>

#include <keysieve/status.h>

/* All zero: nothing is mapped. */
typedef struct file_mapping {
    void *data;
    uint64_t size_bytes;
} file_mapping;

/* Maps the `file_bytes` bytes of `fd`. An empty file, or one too long for the
 * address space, is KSV_ERROR_UNSUPPORTED about `path`. */
ksv_status file_mapping_make(file_mapping *mapping, int fd, uint64_t file_bytes,
                             const char *path, ksv_error *error);
void file_mapping_release(file_mapping *mapping);

#endif
