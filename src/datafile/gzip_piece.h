/* SPDX-License-Identifier: MIT */
/* Content of a gzip file, decoded a buffer at a time. */
#ifndef KSV_DATAFILE_GZIP_PIECE_H
#define KSV_DATAFILE_GZIP_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/status.h>

#include "datafile/gzip_decoder.h"
#include "datafile/gzip_points.h"

/* What is decoded at once, and how far the decoder has come with it. */
typedef struct gzip_piece {
    const uint8_t *data; /* in the decoder's buffer */
    size_t size_bytes;
    bool last;
    bool garbage_ignored;
    uint64_t disk_bytes; /* of the file that were used so far */
    points_spans *spans; /* complete since the piece before, to be written */
} gzip_piece;

/* Decodes until the buffer, in which there is room, is full, nothing follows,
 * or nothing has come for a while (then there may be no bytes), and tells
 * `points` (may be NULL), whose spans go to `spans`, empty before. On failure
 * `disk_bytes` alone counts. */
ksv_status gzip_piece_decode(gzip_decoder *d, gzip_points *points,
                             points_spans *spans, gzip_piece *piece,
                             ksv_error *error);

#endif
