/* SPDX-License-Identifier: MIT */
/* The living entries of several segments as one ascending stream. */
#ifndef KSV_SEGMENT_SEGMENT_MERGE_H
#define KSV_SEGMENT_SEGMENT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/merge_space.h"
#include "segment/segment.h"

struct table_entry; /* of segment/organisation.h */

/* One thread at a time. */
typedef struct segment_merge segment_merge;

/* `segments` and what they point to are borrowed until the merge is closed. */
ksv_status segment_merge_open(const segment_place *place,
                              const catalog_segment *const *segments,
                              size_t count, segment_merge **out,
                              ksv_error *error);

/* The living parts of all segments. */
const merge_space *segment_merge_space(const segment_merge *merge);

/* The next entry in the order of the organisation, then of the payloads, which
 * are those of the space of the merge; or `*end`. What its key points to is
 * valid until the next call. The tables are checked on the way:
 * KSV_ERROR_CORRUPT names the one that is damaged. */
ksv_status segment_merge_next(segment_merge *merge, struct table_entry *entry,
                              bool *end, ksv_error *error);
void segment_merge_close(segment_merge *merge);

#endif
