/* SPDX-License-Identifier: MIT */
/* Reads a data file from start to end and gives its records. */
#ifndef KSV_SCAN_FILE_SCAN_H
#define KSV_SCAN_FILE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "base/thread_pool.h"
#include "datafile/content_hash.h"
#include "datafile/datafile.h"
#include "datafile/points_writer.h"
#include "scan/record_reader.h"
#include "scan/scan_spec.h"

/* Called with the records of a piece of the content in order; an error ends
 * the scan and is its result. Keys are valid during the call. */
typedef ksv_status (*file_scan_records_fn)(void *ctx,
                                           const scan_record *records,
                                           size_t count, ksv_error *error);

/* The same for a scan with several threads: called by many of them at once,
 * each with a number of its own, below `chunk_workers`. The content is cut into
 * chunks, numbered in its order; the records of a chunk come in order and from
 * one worker, and those of a worker with rising numbers of chunks. Which worker
 * gets a chunk is left to chance. Of several errors the one of the lowest chunk
 * is the result of the scan; all records before it were given then, and perhaps
 * some of later chunks. */
typedef ksv_status (*file_scan_chunk_fn)(void *ctx, unsigned worker,
                                         uint64_t chunk,
                                         const scan_record *records,
                                         size_t count, ksv_error *error);

/* Called now and then, by the thread that runs the scan, with the bytes of the
 * file that were read so far; an error ends the scan and is its result, unless
 * records before have one. */
typedef ksv_status (*file_scan_progress_fn)(void *ctx, uint64_t disk_bytes,
                                            ksv_error *error);

/* Called when the content turns out to be compressed, to give a writer for its
 * access points (borrowed until the scan ends; NULL: none are wanted). */
typedef ksv_status (*file_scan_points_fn)(void *ctx, datafile_kind kind,
                                          points_writer **writer,
                                          ksv_error *error);

typedef struct file_scan {
    const ksv_file_system *fs;
    const char *path;       /* to open */
    const char *given_path; /* to name in errors */
    const scan_spec *spec;
    bool skip_bad_records;
    bool ignore_trailing_garbage; /* after compressed data */
    unsigned threads;             /* to inflate with; 0 and 1: none */
    const ksv_allocator *allocator;
    file_scan_records_fn records;   /* for one thread */
    file_scan_progress_fn progress; /* or NULL */
    file_scan_points_fn points;     /* or NULL */
    void *ctx;
    /* Replaces `records` when it is not NULL. Then up to `chunk_workers`
     * threads scan a plain file: the caller, which is worker 0, and threads of
     * `pool`; without a pool, or where a content cannot be cut, the caller
     * alone. Nothing else of the result depends on their number. */
    file_scan_chunk_fn chunk_records;
    unsigned chunk_workers;
    thread_pool *pool;  /* or NULL; it must not run this scan itself */
    size_t chunk_bytes; /* 0: what is best */
} file_scan;

/* What a whole scan tells beside the records. Filled by file_scan_run(). */
typedef struct file_scan_result {
    ksv_file_info info; /* of the file, the same before and after */
    datafile_kind kind;
    uint64_t content_bytes;      /* uncompressed */
    uint8_t fingerprint[16];     /* of the bytes on disk */
    uint8_t content_hash[16];    /* of the whole content */
    content_chain content_chain; /* to go on with it when it has grown */
    unsigned warnings;           /* DATAFILE_NO_END_MARKER and the like */
    byte_buffer layout;          /* released by the caller, on failure too */
} file_scan_result;

/* Runs the scan. An error in the data names line and byte. A file that changes
 * while it is read is KSV_ERROR_STALE. */
ksv_status file_scan_run(const file_scan *scan, file_scan_result *result,
                         ksv_error *error);

#endif
