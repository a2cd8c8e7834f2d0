/* SPDX-License-Identifier: MIT */
/* The entries of several segments as one ascending stream. */
#ifndef KSV_SEGMENT_SEGMENT_MERGE_H
#define KSV_SEGMENT_SEGMENT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/segment.h"

typedef struct merge_entry {
    uint64_t hash;
    size_t segment; /* position in the array that was given */
    uint64_t payload;
} merge_entry;

/* One thread at a time. */
typedef struct segment_merge segment_merge;

/* `segments` and what they point to are borrowed until the merge is closed. */
ksv_status segment_merge_open(const segment_place *place,
                              const catalog_segment *const *segments,
                              size_t count, segment_merge **out,
                              ksv_error *error);

/* The next entry by (hash, segment, payload), or `*end`. */
ksv_status segment_merge_next(segment_merge *merge, merge_entry *entry,
                              bool *end, ksv_error *error);
void segment_merge_close(segment_merge *merge);

/* How many different hashes several segments hold together. */
ksv_status segment_count_distinct(const segment_place *place,
                                  const catalog_segment *const *segments,
                                  size_t count, uint64_t *distinct,
                                  ksv_error *error);

#endif
