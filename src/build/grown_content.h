/* SPDX-License-Identifier: MIT */
/* What was appended to a grown data file. */
#ifndef KSV_BUILD_GROWN_CONTENT_H
#define KSV_BUILD_GROWN_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "build/grown_file.h"
#include "build/record_feed.h"
#include "datafile/points_writer.h"

/* How to read it. Borrowed members. */
typedef struct grown_content {
    grown_file *grown; /* open, and its beginning is as it was */
    uint64_t offset;   /* where a record begins: the first one that is given */
    record_feed_fn take;
    void *ctx;
    points_writer *points; /* for a compressed file, else NULL */
    bool ignore_trailing_garbage;
    /* What came of it. */
    bool is_same;
    unsigned warnings; /* DATAFILE_NO_END_MARKER and the like */
} grown_content;

/* Gives the records and goes on with the content hash: `file` gets it, its
 * chain, the fingerprint and the sizes. What is read on the way of what was
 * there before may show that it has changed: then `is_same` is false. A file
 * that changes meanwhile is KSV_ERROR_STALE. */
ksv_status grown_content_read(grown_content *content, catalog_file *file,
                              ksv_error *error);

#endif
