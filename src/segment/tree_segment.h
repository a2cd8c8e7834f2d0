/* SPDX-License-Identifier: MIT */
/* Writes the tree of a segment from entries in the order of their keys. */
#ifndef KSV_SEGMENT_TREE_SEGMENT_H
#define KSV_SEGMENT_TREE_SEGMENT_H

#include "segment/sorted_segment.h"

/* A keyed_table_fn: a tree with one part, whose number is that of the segment;
 * offsets in it are payloads. */
ksv_status tree_segment_write(const segment_place *place,
                              const sorted_source *source,
                              catalog_segment *segment, segment_files *files,
                              uint64_t *distinct_keys, ksv_error *error);

#endif
