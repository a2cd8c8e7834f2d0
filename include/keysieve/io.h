/* SPDX-License-Identifier: MIT */
/* The file operations that the library needs, replaceable by an embedder. */
#ifndef KEYSIEVE_IO_H
#define KEYSIEVE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ksv_file_kind {
    KSV_FILE_REGULAR = 0,
    KSV_FILE_DIRECTORY = 1,
    /* A pipe, socket or device. */
    KSV_FILE_OTHER = 2
} ksv_file_kind;

/* What is known of a file without reading it. An implementation that cannot
 * tell a member leaves it 0. */
typedef struct ksv_file_info {
    uint64_t size_bytes;
    /* Last change of the content and of the inode, since 1970. */
    int64_t mtime_ns;
    int64_t ctime_ns;
    uint64_t inode;
    uint64_t device;
    ksv_file_kind kind;
} ksv_file_info;

typedef struct ksv_file ksv_file;

/* Operations on an open file. All are required but those that say otherwise;
 * those that a file was not opened for return KSV_ERROR_ARGUMENT. `read_at` may
 * be called by many threads at once, the others by one thread at a time. */
typedef struct ksv_file_ops {
    /* Reads up to `size_bytes` at `offset`; `*got_bytes` is smaller only at the
     * end of the file (0: at or past the end). */
    ksv_status (*read_at)(ksv_file *file, uint64_t offset, void *buffer,
                          size_t size_bytes, size_t *got_bytes,
                          ksv_error *error);
    /* Appends all of `size_bytes` or fails. */
    ksv_status (*append)(ksv_file *file, const void *data, size_t size_bytes,
                         ksv_error *error);
    /* Makes all that was appended durable. */
    ksv_status (*sync)(ksv_file *file, ksv_error *error);
    ksv_status (*info)(ksv_file *file, ksv_file_info *info, ksv_error *error);
    /* Closes and frees `file` in every case; an error says that what was
     * appended may be lost. */
    ksv_status (*close)(ksv_file *file, ksv_error *error);
    /* NULL: there is nothing to do. Says that what follows are short reads at
     * random offsets, so that nothing should be read ahead. */
    void (*expect_random)(ksv_file *file);
    /* NULL: cannot be mapped. `*data` are the `*size_bytes` bytes that the file
     * has now, readable until it is closed; later calls give the same. Bytes
     * that the file loses meanwhile may end the process when they are read. A
     * file that cannot be mapped is KSV_ERROR_UNSUPPORTED. */
    ksv_status (*map)(ksv_file *file, const void **data, uint64_t *size_bytes,
                      ksv_error *error);
    /* NULL: there is nothing to do. Says that what is appended will be synced,
     * so that it may as well be synced while more is appended. What fails then
     * is told by sync(). */
    void (*expect_sync)(ksv_file *file);
} ksv_file_ops;

/* An open file: an implementation puts this first in a structure of its own. */
struct ksv_file {
    const ksv_file_ops *ops;
};

/* One of many reads. */
typedef struct ksv_read {
    ksv_file *file;
    uint64_t offset;
    void *buffer;
    size_t size_bytes;
    size_t got_bytes; /* filled: smaller than `size_bytes` only at the end */
} ksv_read;

/* Called once an entry with its name (without a directory). Returning false
 * ends the listing early, without an error. */
typedef bool (*ksv_list_fn)(void *ctx, const char *name);

/* A file system. Paths are NUL-terminated bytes. All functions may be called by
 * many threads at once. A missing file is KSV_ERROR_IO with os_errno ENOENT. */
typedef struct ksv_file_system {
    void *ctx;
    /* For reading. Never blocks on a pipe. */
    ksv_status (*open_read)(void *ctx, const char *path, ksv_file **file,
                            ksv_error *error);
    /* For appending; an existing file is emptied. */
    ksv_status (*create)(void *ctx, const char *path, ksv_file **file,
                         ksv_error *error);
    ksv_status (*info)(void *ctx, const char *path, ksv_file_info *info,
                       ksv_error *error);
    /* Replaces `to` atomically. */
    ksv_status (*rename)(void *ctx, const char *from, const char *to,
                         ksv_error *error);
    ksv_status (*remove)(void *ctx, const char *path, ksv_error *error);
    /* An existing directory is no error. */
    ksv_status (*make_directory)(void *ctx, const char *path, ksv_error *error);
    ksv_status (*remove_directory)(void *ctx, const char *path,
                                   ksv_error *error);
    /* Makes creations, renames and removals in a directory durable. */
    ksv_status (*sync_directory)(void *ctx, const char *path, ksv_error *error);
    /* All entries but "." and "..", in any order. */
    ksv_status (*list)(void *ctx, const char *path, ksv_list_fn visit,
                       void *visit_ctx, ksv_error *error);
    /* Takes the exclusive lock of a file, made if need be; it ends when the
     * file is closed or the process ends. Held by another: KSV_ERROR_BUSY. */
    ksv_status (*lock)(void *ctx, const char *path, ksv_file **lock,
                       ksv_error *error);
    /* NULL: each in turn by `read_at`. Reads all of `reads`, of files of this
     * system, in any order and as many at once as serve; buffers do not
     * overlap. An error of one is that of the call, and no buffer has a meaning
     * then. */
    ksv_status (*read_many)(void *ctx, ksv_read *reads, size_t count,
                            ksv_error *error);
    /* NULL: each file is synced by itself. Makes durable what was appended to
     * files in `directory`, which were closed since: for very many of them. */
    ksv_status (*sync_files)(void *ctx, const char *directory,
                             ksv_error *error);
} ksv_file_system;

/* The file system of the operating system. Never freed. Thread-safe. */
KSV_API const ksv_file_system *ksv_posix_file_system(void);

#ifdef __cplusplus
}
#endif

#endif
