/* SPDX-License-Identifier: MIT */
/* How many different keys segments hold together. */
#ifndef KSV_SEGMENT_DISTINCT_KEYS_H
#define KSV_SEGMENT_DISTINCT_KEYS_H

#include "segment/segment.h"

/* Counts the keys in the living parts of `segments`, which are of `state`:
 * exactly within an extent of a file; keys of different ones count as one when
 * their truncated hashes are equal. Reads the tables if there are several that
 * may have keys in common. */
ksv_status distinct_keys_count(const segment_place *place,
                               const catalog_state *state,
                               const catalog_segment *const *segments,
                               size_t count, uint64_t *distinct,
                               ksv_error *error);

/* The same of all segments of `state`. */
ksv_status distinct_keys_count_all(const segment_place *place,
                                   const catalog_state *state,
                                   uint64_t *distinct, ksv_error *error);

#endif
