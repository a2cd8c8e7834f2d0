/* SPDX-License-Identifier: MIT */
/* Files that appear whole or not at all: temporary name, sync, rename. */
#ifndef KSV_IO_ATOMIC_FILE_H
#define KSV_IO_ATOMIC_FILE_H

#include <stdbool.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

/* The ending of temporary names; a builder removes what has it. */
#define ATOMIC_FILE_TEMPORARY ".tmp"

typedef struct atomic_file atomic_file;

/* Opens `directory`/`name`.tmp for appending. Ended by exactly one of publish
 * and abandon. */
ksv_status atomic_file_create(const ksv_file_system *fs, const char *directory,
                              const char *name, const ksv_allocator *allocator,
                              atomic_file **out, ksv_error *error);

/* Takes over `directory`/`name`.tmp, which somebody else writes by other means
 * and syncs before it is published: there is nothing to append to. Nothing has
 * to be there yet. */
ksv_status atomic_file_adopt(const ksv_file_system *fs, const char *directory,
                             const char *name, const ksv_allocator *allocator,
                             atomic_file **out, ksv_error *error);

/* The file to append to; owned by `file`. NULL: it was adopted. */
ksv_file *atomic_file_handle(atomic_file *file);

/* Syncs, closes and renames to the final name; frees `file` in every case. The
 * directory is not synced: the caller does that once for many files. On failure
 * the temporary file is removed and the final name is as it was before. */
ksv_status atomic_file_publish(atomic_file *file, ksv_error *error);

/* The two halves of atomic_file_publish(): the first leaves `file` as it is
 * and may run in another thread, the second is called when it has succeeded. */
ksv_status atomic_file_sync(atomic_file *file, ksv_error *error);
ksv_status atomic_file_publish_synced(atomic_file *file, ksv_error *error);

/* Opens what was appended so far for reading; closed by the caller. */
ksv_status atomic_file_read_back(const atomic_file *file, ksv_file **out,
                                 ksv_error *error);

/* Closes and removes the temporary file; frees `file` (NULL is allowed). */
void atomic_file_abandon(atomic_file *file);

#endif
