/* SPDX-License-Identifier: MIT */
/* Writes the sidecars of a segment from sorted entries, in one pass. */
#ifndef KSV_SEGMENT_SEGMENT_WRITER_H
#define KSV_SEGMENT_SEGMENT_WRITER_H

#include "catalog/catalog.h"
#include "segment/segment.h"
#include "sort/entry_sorter.h"

/* Writes filter and table of the entries of `sorter`, which is finished, under
 * their final names, synced (the directory is not). `payload_limit` is above
 * every payload. `segment` has its ids (segment_ids()); sizes and counts are
 * filled in. On failure neither file stays. */
ksv_status segment_write(const segment_place *place, const entry_sorter *sorter,
                         uint64_t payload_limit, catalog_segment *segment,
                         ksv_error *error);

/* Removes the sidecars of a segment that no catalog names. */
void segment_remove(const segment_place *place, uint64_t segment_id);

#endif
