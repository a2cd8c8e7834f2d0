/* SPDX-License-Identifier: MIT */
/* Contents, gzip and BGZF files made by zlib, and what reading them gives. */
#ifndef KSV_TESTS_SUPPORT_GZIP_DATA_H
#define KSV_TESTS_SUPPORT_GZIP_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/status.h>

#include "datafile/datafile.h"
#include "support/random.h"

/* Growing bytes; all zero is none. Running out of memory ends the program. */
typedef struct gzip_bytes {
    uint8_t *data;
    size_t size;
    size_t capacity;
} gzip_bytes;

void gzip_bytes_add(gzip_bytes *bytes, const void *data, size_t size_bytes);
void gzip_bytes_release(gzip_bytes *bytes);

typedef enum gzip_content_kind {
    GZIP_CONTENT_TEXT,
    GZIP_CONTENT_RANDOM,
    GZIP_CONTENT_RUNS,
    GZIP_CONTENT_MIXED, /* stretches of the others */
    GZIP_CONTENT_KINDS
} gzip_content_kind;

/* Adds so many bytes of content. */
void gzip_content_add(gzip_bytes *content, gzip_content_kind kind,
                      size_t size_bytes, random_source *random);

/* How zlib compresses a member, and what its header has. */
typedef struct gzip_how {
    int level;
    int strategy;
    int memory_level;
    int flush;         /* Z_SYNC_FLUSH and the like */
    size_t flush_each; /* after so many bytes of content; 0: never */
    unsigned header_flags;
    uint8_t method; /* 0: the right one */
} gzip_how;

gzip_how gzip_how_usual(void);
gzip_how gzip_how_random(random_source *random);

/* Adds one member; `extra` (may be NULL) is its extra field. */
void gzip_member_add(gzip_bytes *file, const void *data, size_t size_bytes,
                     const gzip_how *how, const void *extra,
                     size_t extra_bytes);

/* Adds BGZF blocks of up to `block_bytes` of content. */
void gzip_bgzf_add(gzip_bytes *file, const void *data, size_t size_bytes,
                   size_t block_bytes, const gzip_how *how);
void gzip_bgzf_marker_add(gzip_bytes *file);

/* Writes a file, replacing one. */
void gzip_file_write(const ksv_file_system *fs, const char *path,
                     const uint8_t *data, size_t size_bytes);
/* Adds what a file holds. */
void gzip_file_read(const ksv_file_system *fs, const char *path,
                    gzip_bytes *bytes);

/* One pass over a data file. */
typedef struct gzip_pass {
    unsigned threads;
    bool ignore_trailing_garbage;
    uint64_t spacing_bytes;        /* of access points; 0: none */
    const char *points_path;       /* where they go */
    size_t stop_after;             /* fewer pieces than this are read; 0: all */
    const datafile_resume *resume; /* NULL: from the start */
    /* What came of it. */
    gzip_bytes content; /* to be released */
    uint64_t begin;     /* where it begins */
    datafile_kind kind;
    unsigned warnings;
    bool stopped;       /* before the last piece */
    uint64_t disk_hash; /* of the sizes of pieces and how far each came */
    ksv_status status;
    ksv_error error;
} gzip_pass;

/* The id of the access points of all passes. */
extern const uint8_t gzip_pass_id[16];

void gzip_pass_run(gzip_pass *pass, const ksv_file_system *fs, const char *path,
                   const ksv_allocator *allocator);

#endif
