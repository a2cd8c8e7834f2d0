/* SPDX-License-Identifier: MIT */
/* What becomes of the old segments when the end of a data file is replaced. */
#ifndef KSV_BUILD_STATE_GROWTH_H
#define KSV_BUILD_STATE_GROWTH_H

#include "build/file_builder.h"
#include "catalog/catalog.h"
#include "segment/segment.h"

/* Lets the parts of file number `index` die from where `built` (a grown one)
 * begins, in all segments below `first_new_id`, and settles how many keys its
 * last old extent has left. To be called while `state` has the file as it was
 * before. Reads a page of a table at most for each segment. */
ksv_status state_growth_apply(catalog_state *state, const segment_place *place,
                              uint64_t first_new_id, size_t index,
                              built_file *built, ksv_error *error);

#endif
