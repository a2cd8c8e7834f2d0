/* SPDX-License-Identifier: MIT */
/* Reads every byte of sidecars. */
#ifndef KSV_SEGMENT_SEGMENT_CHECK_H
#define KSV_SEGMENT_SEGMENT_CHECK_H

#include "segment/entry_sum.h"
#include "segment/segment.h"

/* Checks table and filter of `segment`: every checksum, the order of entries
 * and their number in each part, that payloads are inside of the parts, and
 * that the filter holds every key of the table. Of a table that has not an
 * entry for each record the records are read where `place` leads to its data;
 * otherwise what it holds is all that is checked. KSV_ERROR_CORRUPT names the
 * file. `sums` (NULL, or as many as parts, all zero) are those of the entries
 * of each part, with offsets in its file. */
ksv_status segment_check(const segment_place *place,
                         const catalog_segment *segment, entry_sum *sums,
                         ksv_error *error);

/* Checks the sidecars that belong to `file` alone: every checksum of its access
 * points, and of the filters of its extents that are not those of segments. */
ksv_status segment_check_file(const segment_place *place,
                              const catalog_state *state,
                              const catalog_file *file, ksv_error *error);

/* Whether the same sidecars are there with the sizes that they should have. */
bool segment_is_there(const segment_place *place,
                      const catalog_segment *segment);
bool segment_file_is_there(const segment_place *place,
                           const catalog_state *state,
                           const catalog_file *file);

/* Whether a segment of `state` has that filter for its own. */
bool segment_has_filter(const catalog_state *state, uint64_t filter_id);

#endif
