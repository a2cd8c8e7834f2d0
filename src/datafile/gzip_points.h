/* SPDX-License-Identifier: MIT */
/* Choosing access points during a pass over a gzip file, and collecting what
 * each of them needs. */
#ifndef KSV_DATAFILE_GZIP_POINTS_H
#define KSV_DATAFILE_GZIP_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "datafile/gzip_decoder.h"
#include "datafile/points_writer.h"

/* Where points come depends on the DEFLATE streams and the spacing alone, not
 * on how the file is read:
 *
 *   - at a member's first block, when half the spacing (of BGZF: 32 KiB) of
 *     content lies behind the point before it, or there is none;
 *   - at another block's header, when the spacing does;
 *   - in a block with codes, at the first symbol border where five quarters of
 *     the spacing do.
 */
#define GZIP_POINTS_BGZF_MEMBER_BYTES 32768
#define GZIP_POINTS_BGZF_SPACING_LEAST 131072

/* One thread at a time. */
typedef struct gzip_points gzip_points;

/* `writer` is borrowed. */
ksv_status gzip_points_open(points_writer *writer, bool is_bgzf,
                            const ksv_allocator *allocator, gzip_points **out,
                            ksv_error *error);
void gzip_points_close(gzip_points *points);

/* Where the decoder has to stop at the latest. */
uint64_t gzip_points_limit(const gzip_points *points);

/* To be told after each step of the decoder, before its buffer moves. */
ksv_status gzip_points_event(gzip_points *points, gzip_decoder *d,
                             gzip_event event, ksv_error *error);

/* The same for BGZF blocks that were inflated elsewhere: content in order, and
 * before it where its block begins and its DEFLATE stream does; at the end
 * where the last block ends and how many there were. */
ksv_status gzip_points_content(gzip_points *points, const uint8_t *data,
                               size_t size_bytes, ksv_error *error);
ksv_status gzip_points_block(gzip_points *points, uint64_t member_offset,
                             uint64_t body_offset, ksv_error *error);
ksv_status gzip_points_end(gzip_points *points, uint64_t data_end,
                           uint64_t members, ksv_error *error);

#endif
