/* SPDX-License-Identifier: MIT */
/* Writes the filter of an extent by itself. */
#ifndef KSV_SEGMENT_EXTENT_FILTER_H
#define KSV_SEGMENT_EXTENT_FILTER_H

#include <keysieve/filter.h>

#include "hash/hash_entry.h"
#include "segment/segment.h"

/* Appends filter `filter->id` over the hashes of `entries` to `file` (borrowed,
 * empty). The entries are in order of their truncated hashes; `plan` is
 * for as many as differ. The rest of `*filter` is filled in. */
ksv_status extent_filter_write(const segment_place *place,
                               const hash_entry *entries, size_t count,
                               const ksv_filter_plan *plan,
                               catalog_filter *filter, ksv_file *file,
                               ksv_error *error);

#endif
