/* SPDX-License-Identifier: MIT */
/* Writes the table and the filter of a merge in the order of keys. */
#ifndef KSV_SEGMENT_KEYED_JOIN_H
#define KSV_SEGMENT_KEYED_JOIN_H

#include "segment/segment_join.h"
#include "segment/segment_merge.h"
#include "segment/sorted_segment.h"

/* As `write_merged` of an organisation that keeps keys, with a table that
 * `write_table` writes. */
ksv_status keyed_join_write(const segment_place *place, segment_merge *merge,
                            keyed_table_fn write_table, join_step_fn step,
                            void *step_ctx, catalog_segment *out,
                            segment_files *files, ksv_error *error);

#endif
