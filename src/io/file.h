/* SPDX-License-Identifier: MIT */
/* Helpers over the file vtable that every layer uses. */
#ifndef KSV_IO_FILE_H
#define KSV_IO_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "base/memory.h"

/* Reads exactly `size_bytes`; fewer is KSV_ERROR_CORRUPT ("ends too early"). */
ksv_status file_read_exactly(ksv_file *file, uint64_t offset, void *buffer,
                             size_t size_bytes, ksv_error *error);

/* The whole content of a file of at most `limit_bytes` (larger:
 * KSV_ERROR_CORRUPT), appended to `out`. */
ksv_status file_read_all(const ksv_file_system *fs, const char *path,
                         uint64_t limit_bytes, byte_buffer *out,
                         ksv_error *error);

/* All of `reads`, one by one. */
ksv_status file_read_each(ksv_read *reads, size_t count, ksv_error *error);

/* All of `reads`, of files of `fs`: by its read_many, or one by one. */
ksv_status file_read_many(const ksv_file_system *fs, ksv_read *reads,
                          size_t count, ksv_error *error);

/* Says that only short reads at random offsets follow. */
void file_expect_random(ksv_file *file);

/* Closes a file that was only read; NULL is allowed, errors have no meaning. */
void file_close_quietly(ksv_file *file);

/* Whether `error` says that a file or directory does not exist. */
bool file_error_is_missing(const ksv_error *error);

/* Whether both tell of one file that was not written to in between. */
bool file_info_is_same(const ksv_file_info *a, const ksv_file_info *b);

/* Clocks of file systems tick every few milliseconds: a change within one tick
 * of another cannot be seen in the times of a file. Waits until a file that has
 * just been written is older than a tick, so that any later change shows. */
void file_wait_for_tick(const ksv_file_info *info);

/* "`directory`/`name`" in memory of `allocator`; NULL when memory is out.
 * Freed with memory_free_string(). */
char *path_join(const ksv_allocator *allocator, const char *directory,
                const char *name);

/* The same for "`path``ending`". */
char *path_append(const ksv_allocator *allocator, const char *path,
                  const char *ending);

/* An absolute path for `path` in which its directory has no symbolic links, "."
 * or ".." left, while its last component stays as it is: two spellings of one
 * path give the same bytes, a symbolic link and its target do not. A directory
 * that does not exist is KSV_ERROR_IO. Freed with memory_free_string(). */
ksv_status path_canonical(const char *path, const ksv_allocator *allocator,
                          char **out, ksv_error *error);

/* The directory that was resolved last, since paths often share theirs. */
typedef struct path_memo {
    const ksv_allocator *allocator; /* borrowed */
    char *given;                    /* as it was spelled; NULL: none */
    char *real;
} path_memo;

void path_memo_release(path_memo *memo);

/* As path_canonical(); a directory that is spelled like that of the path before
 * is taken to be the same still. */
ksv_status path_canonical_near(path_memo *memo, const char *path, char **out,
                               ksv_error *error);

/* As path_canonical() for a directory that exists: no symbolic link is left,
 * the last component included. */
ksv_status path_real_directory(const char *path, const ksv_allocator *allocator,
                               char **out, ksv_error *error);

/* `to` (absolute, canonical) as seen from the directory `from` (likewise):
 * "../data.csv". Freed with memory_free_string(). */
ksv_status path_relative(const char *from, const char *to,
                         const ksv_allocator *allocator, char **out,
                         ksv_error *error);

/* Nanoseconds of a clock that only goes forward. */
uint64_t clock_monotonic_ns(void);

/* Nanoseconds since 1970. */
int64_t clock_realtime_ns(void);

/* Waits; a signal may end it early. */
void clock_sleep_ns(uint64_t ns);

#endif
