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
#include "datafile/points_spans.h"

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

/* For points that are `spacing_bytes` apart. */
ksv_status gzip_points_open(uint64_t spacing_bytes, bool is_bgzf,
                            const ksv_allocator *allocator, gzip_points **out,
                            ksv_error *error);
void gzip_points_close(gzip_points *points);

/* A file whose beginning is known: how many of its members end before which
 * byte of it. */
typedef struct gzip_known_members {
    uint64_t data_end;
    uint64_t count;
} gzip_known_members;

/* Before anything else: goes on at a point that is known, whose window (as it
 * was kept, borrowed for this call) is what `window` has. The spans begin with
 * that of this point then, and are those that a pass from the start gives. */
void gzip_points_resume(gzip_points *points, const points_entry *entry,
                        const uint8_t *window, const gzip_known_members *known);

/* Where the decoder has to stop at the latest. */
uint64_t gzip_points_limit(const gzip_points *points);

/* A gzip_sum_fn whose `ctx` is a gzip_points: the CRCs of chunks are found from
 * those of members. The decoder that gzip_points_event() tells of has it. */
ksv_status gzip_points_sum(void *ctx, uint32_t *crc, const uint8_t *data,
                           size_t size_bytes, ksv_error *error);

/* To be told after each step of the decoder, before its buffer moves. */
ksv_status gzip_points_event(gzip_points *points, gzip_decoder *d,
                             gzip_event event, ksv_error *error);

/* The same for a BGZF block that was inflated elsewhere: where it and its
 * DEFLATE stream begin, and its content and the CRC of that. */
ksv_status gzip_points_block(gzip_points *points, uint64_t member_offset,
                             uint64_t body_offset, const uint8_t *data,
                             size_t size_bytes, uint32_t crc, ksv_error *error);

/* Moves the spans that are there to `spans`, of the same allocator and empty.
 */
void gzip_points_take(gzip_points *points, points_spans *spans);

#endif
