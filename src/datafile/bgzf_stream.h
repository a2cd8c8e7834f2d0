/* SPDX-License-Identifier: MIT */
/* One pass over a BGZF file whose blocks several threads inflate. */
#ifndef KSV_DATAFILE_BGZF_STREAM_H
#define KSV_DATAFILE_BGZF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "datafile/gzip_points.h"

typedef struct bgzf_stream bgzf_stream;

/* `file` and `points` (may be NULL) are borrowed. */
ksv_status bgzf_stream_open(ksv_file *file, unsigned threads,
                            gzip_points *points, const ksv_allocator *allocator,
                            bgzf_stream **out, ksv_error *error);
/* NULL is allowed. */
void bgzf_stream_close(bgzf_stream *stream);

/* The next piece of the content, never empty; valid until the next call.
 * `*done`: there is none, because what comes at the place that
 * bgzf_stream_end() gives is no whole and right BGZF block. */
ksv_status bgzf_stream_next(bgzf_stream *stream, const uint8_t **data,
                            size_t *size_bytes, bool *done, ksv_error *error);

/* Where the blocks end that were given out. */
typedef struct bgzf_stream_place {
    uint64_t offset; /* in the file */
    uint64_t content;
    uint64_t blocks;
    bool ends_with_marker; /* the last one is empty */
} bgzf_stream_place;

bgzf_stream_place bgzf_stream_end(const bgzf_stream *stream);

#endif
