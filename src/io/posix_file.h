/* SPDX-License-Identifier: MIT */
/* An open file of the operating system, as those who read many at once see it.
 */
#ifndef KSV_IO_POSIX_FILE_H
#define KSV_IO_POSIX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>

#include "io/file_mapping.h"
#include "io/sync_ahead.h"

typedef enum posix_mode { MODE_READ, MODE_APPEND, MODE_LOCK } posix_mode;

typedef struct posix_file {
    ksv_file base;
    int fd;
    posix_mode mode;
    file_mapping mapping;
    bool expects_sync;
    uint64_t waiting_bytes; /* appended since a sync was begun */
    sync_ahead *ahead;      /* or NULL */
    int sync_failure;       /* of an earlier sync: an errno, or 0 */
    size_t path_bytes;      /* with its NUL */
    char path[];            /* for errors */
} posix_file;

/* `file` if it is one of these and open for reading, else NULL. */
posix_file *posix_file_to_read(ksv_file *file);

/* The bytes from `offset` that a file can have at most: no sum of an offset
 * and a size may pass the largest off_t. */
static inline size_t posix_clamp_read(uint64_t offset, size_t size_bytes)
{
    if (offset >= INT64_MAX)
        return 0;
    uint64_t room = INT64_MAX - offset;
    return size_bytes < room ? size_bytes : (size_t)room;
}

#endif
