/* SPDX-License-Identifier: MIT */
/* A file for reading that holds no descriptor between reads. */
#ifndef KSV_IO_REOPENING_FILE_H
#define KSV_IO_REOPENING_FILE_H

#include <keysieve/io.h>
#include <keysieve/memory.h>

/* As `fs->open_read`, but the file is opened anew for each operation, so that
 * any number can be in use at once; a missing file is told by this call. The
 * file found later under the path may be another. Safe for many threads. */
ksv_status reopening_file_open(const ksv_file_system *fs, const char *path,
                               const ksv_allocator *allocator, ksv_file **file,
                               ksv_error *error);

/* All of `reads`, some of which are of such files over `fs`, the others of `fs`
 * itself: files that follow one another are opened once, and some at a time, so
 * that as much as possible is read at once. */
ksv_status reopening_file_read_many(const ksv_file_system *fs, ksv_read *reads,
                                    size_t count, ksv_error *error);

/* A file system in which every file opened for reading is such a file. */
typedef struct reopening_file_system {
    /* For open_read and info only, the rest is NULL. */
    ksv_file_system fs;
    const ksv_file_system *inner;
    const ksv_allocator *allocator;
} reopening_file_system;

/* `inner` has to outlive the files. `self` must not be moved afterwards. */
void reopening_file_system_init(reopening_file_system *self,
                                const ksv_file_system *inner,
                                const ksv_allocator *allocator);

#endif
