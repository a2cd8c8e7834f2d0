/* SPDX-License-Identifier: MIT */
/* How many different keys segments hold together. */
#ifndef KSV_SEGMENT_DISTINCT_KEYS_H
#define KSV_SEGMENT_DISTINCT_KEYS_H

#include "segment/segment.h"

/* Counts the keys in the living parts of the segments of `state` that have an
 * id from `first_id` on (0: all of them): exactly within an extent of a file;
 * keys of different ones count as one when their truncated hashes are equal.
 * Reads the tables if there are several that may have keys in common; a table
 * that is in data which has changed counts for itself then. */
ksv_status distinct_keys_count(const segment_place *place,
                               const catalog_state *state, uint64_t first_id,
                               uint64_t *distinct, ksv_error *error);

#endif
