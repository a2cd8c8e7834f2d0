/* SPDX-License-Identifier: MIT */
/* Opens the sorters of a build. */
#ifndef KSV_BUILD_BUILD_SORTER_H
#define KSV_BUILD_BUILD_SORTER_H

#include "segment/segment.h"
#include "sort/entry_sorter.h"

/* A sorter of the entries of sidecars of number `id`, which are those of about
 * `data_bytes` of data: beyond `memory_bytes` they are spilled beside the
 * sidecars. */
ksv_status build_sorter_open(const segment_place *place, uint64_t id,
                             uint64_t memory_bytes, uint64_t data_bytes,
                             unsigned adders, entry_sorter **out,
                             ksv_error *error);

#endif
