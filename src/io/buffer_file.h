/* SPDX-License-Identifier: MIT */
/* A file that is put together in memory and written at once. */
#ifndef KSV_IO_BUFFER_FILE_H
#define KSV_IO_BUFFER_FILE_H

#include <keysieve/io.h>

#include "base/memory.h"

/* Takes what is appended; can do nothing else. */
typedef struct buffer_file {
    ksv_file base;
    byte_buffer bytes;
} buffer_file;

/* `allocator` is borrowed. */
void buffer_file_init(buffer_file *file, const ksv_allocator *allocator);
void buffer_file_release(buffer_file *file);

/* Makes `directory`/`name` with the bytes, without a sync. What was begun is
 * removed after a failure. */
ksv_status buffer_file_write(const buffer_file *file, const ksv_file_system *fs,
                             const char *directory, const char *name,
                             ksv_error *error);

#endif
