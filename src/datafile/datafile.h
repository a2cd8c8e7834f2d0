/* SPDX-License-Identifier: MIT */
/* A data file read by uncompressed offset, in order or at random. */
#ifndef KSV_DATAFILE_DATAFILE_H
#define KSV_DATAFILE_DATAFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "base/memory.h"
#include "io/sequential_file.h"

/* How the bytes lie on disk, told by content. */
typedef enum datafile_kind {
    DATAFILE_PLAIN = 0,
    DATAFILE_GZIP = 1,
    DATAFILE_BGZF = 2 /* gzip whose members are blocks of up to 64 KiB */
} datafile_kind;

/* What reading has cost. */
typedef struct datafile_cost {
    uint64_t reads;
    uint64_t bytes_read;
    uint64_t bytes_inflated;
} datafile_cost;

/* One pass from the start to the end. */
typedef struct datafile_stream datafile_stream;

struct points_writer;

/* Where a pass over a file that has grown can begin. Borrowed members. */
typedef struct datafile_resume {
    /* At this offset of the content, or a little before. */
    uint64_t content;
    /* Of compressed content: access points of the file as it was, with their
     * id (NULL: any), and whether the empty BGZF block with which it ended has
     * gone since. */
    const char *points_path;
    const uint8_t *points_id;
    bool marker_is_gone;
} datafile_resume;

/* How to read compressed content; all zero is a choice. */
typedef struct datafile_stream_options {
    /* That inflate BGZF blocks, besides the caller's; 0 and 1: none. With 2 or
     * more another gzip file is inflated by one, ahead of the caller. Content,
     * points and errors are the same for any number, and with as few threads
     * as the system has room for. */
    unsigned threads;
    /* Bytes after the last gzip member are no error. */
    bool ignore_trailing_garbage;
    /* Takes the access points that datafile_open_compressed() needs; borrowed
     * until the stream is closed. NULL: none are wanted. */
    struct points_writer *points;
    /* NULL: the pass begins at the start. datafile_stream_content_bytes() tells
     * where it does begin. The access points that are written are those of the
     * whole file all the same. No threads help. What is wrong with the points
     * that are read is KSV_ERROR_CORRUPT. */
    const datafile_resume *resume;
} datafile_stream_options;

/* What deserves a warning, as bits. */
#define DATAFILE_NO_END_MARKER 1u /* BGZF without its empty last block */
#define DATAFILE_GARBAGE_IGNORED 2u

/* Opens `path`. A directory, pipe, socket or device is KSV_ERROR_ARGUMENT,
 * compressed content that cannot be read here KSV_ERROR_UNSUPPORTED. */
ksv_status datafile_stream_open(const ksv_file_system *fs, const char *path,
                                const ksv_allocator *allocator,
                                datafile_stream **out, ksv_error *error);

/* The same for a source that can be read once, such as a pipe; `name` is for
 * errors. Of plain content pieces come as soon as there are bytes, and empty
 * ones while there are none. What is told of the file itself (opened_as,
 * info_now, file) has no meaning. */
ksv_status datafile_stream_open_source(sequential_read_fn read, void *ctx,
                                       const char *name,
                                       const ksv_allocator *allocator,
                                       datafile_stream **out, ksv_error *error);

/* Once, before the first datafile_stream_next(). Plain content needs none of
 * it but `resume`. */
ksv_status datafile_stream_configure(datafile_stream *stream,
                                     const datafile_stream_options *options,
                                     ksv_error *error);

/* The next piece of the content: `*data` holds `*size_bytes` bytes, valid until
 * the next call. `*last` comes with the last piece, which may be empty. Damaged
 * compressed data is KSV_ERROR_DATA with the offset in the file on disk. */
ksv_status datafile_stream_next(datafile_stream *stream, const uint8_t **data,
                                size_t *size_bytes, bool *last,
                                ksv_error *error);

/* What the open file was when it was opened, and is now. */
void datafile_stream_opened_as(const datafile_stream *stream,
                               ksv_file_info *info);
ksv_status datafile_stream_info_now(datafile_stream *stream,
                                    ksv_file_info *info, ksv_error *error);

/* The open file, borrowed: for a fingerprint of its bytes on disk. */
ksv_file *datafile_stream_file(datafile_stream *stream);

datafile_kind datafile_stream_kind(const datafile_stream *stream);

/* How far the bytes of the file on disk were used, and those of the content. */
uint64_t datafile_stream_disk_bytes(const datafile_stream *stream);
uint64_t datafile_stream_content_bytes(const datafile_stream *stream);

/* DATAFILE_NO_END_MARKER and the like, complete after the last piece. */
unsigned datafile_stream_warnings(const datafile_stream *stream);

/* NULL is allowed. */
void datafile_stream_close(datafile_stream *stream);

/* Random access. Safe to share between threads. */
typedef struct datafile datafile;

/* Opens `path`, which was found to be of `kind` when it was indexed. Kinds
 * other than DATAFILE_PLAIN need datafile_open_compressed(): here they are
 * KSV_ERROR_UNSUPPORTED. */
ksv_status datafile_open(const ksv_file_system *fs, const char *path,
                         datafile_kind kind, const ksv_allocator *allocator,
                         datafile **out, ksv_error *error);

/* Opens `path` by the access points in `points_path`, whose id (16 bytes; NULL:
 * any) has to be `points_id`. What is wrong with the points is
 * KSV_ERROR_CORRUPT, a data file of another size than theirs KSV_ERROR_STALE.
 */
ksv_status datafile_open_compressed(const ksv_file_system *fs, const char *path,
                                    const char *points_path,
                                    const uint8_t *points_id,
                                    const ksv_allocator *allocator,
                                    datafile **out, ksv_error *error);

/* The same for a file that is larger than it was: of its content what was there
 * before can be read. */
ksv_status datafile_open_grown(const ksv_file_system *fs, const char *path,
                               const char *points_path,
                               const uint8_t *points_id,
                               const ksv_allocator *allocator, datafile **out,
                               ksv_error *error);

/* Reads up to `size_bytes` of the content at `offset`; `*got_bytes` is smaller
 * only at its end. `cost` (may be NULL) is added to. */
ksv_status datafile_read_at(datafile *file, uint64_t offset, void *buffer,
                            size_t size_bytes, size_t *got_bytes,
                            datafile_cost *cost, ksv_error *error);

/* The open file, borrowed. */
ksv_file *datafile_file(datafile *file);

/* NULL is allowed. */
void datafile_close(datafile *file);

#endif
