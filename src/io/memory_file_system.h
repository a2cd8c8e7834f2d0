/* SPDX-License-Identifier: MIT */
/* A file system in memory: for embedding, tests and fuzzing. */
#ifndef KSV_IO_MEMORY_FILE_SYSTEM_H
#define KSV_IO_MEMORY_FILE_SYSTEM_H

#include <keysieve/io.h>
#include <keysieve/memory.h>

/* Makes an empty one. All functions of it are safe to call from many threads.
 * Released with memory_file_system_close() after its files are closed. */
ksv_status memory_file_system_open(const ksv_allocator *allocator,
                                   ksv_file_system *fs, ksv_error *error);
void memory_file_system_close(ksv_file_system *fs);

/* A file for reading over `size_bytes` borrowed bytes, without a file system;
 * closed by its own operations. */
ksv_status memory_file_over(const void *data, size_t size_bytes,
                            const ksv_allocator *allocator, ksv_file **file,
                            ksv_error *error);

#endif
