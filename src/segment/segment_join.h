/* SPDX-License-Identifier: MIT */
/* Makes one segment of several. */
#ifndef KSV_SEGMENT_SEGMENT_JOIN_H
#define KSV_SEGMENT_SEGMENT_JOIN_H

#include "segment/segment.h"
#include "segment/segment_writer.h"

/* Called again and again with what was done since the last time; any failure
 * ends the work. */
typedef ksv_status (*join_step_fn)(void *ctx, uint64_t entries,
                                   ksv_error *error);

/* Writes the living entries of `segments` as one segment in bounded memory.
 * `out` has its id; all else but its tier is filled in, and it owns its parts
 * (also after a failure). Parts follow each other by file and offset. The files
 * are to be published or abandoned, on failure too. A table that is damaged is
 * KSV_ERROR_CORRUPT with its path. */
ksv_status segment_join(const segment_place *place,
                        const catalog_segment *const *segments, size_t count,
                        join_step_fn step, void *step_ctx, catalog_segment *out,
                        segment_files *files, ksv_error *error);

#endif
