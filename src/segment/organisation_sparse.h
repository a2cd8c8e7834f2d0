/* SPDX-License-Identifier: MIT */
/* Sorted tables with one entry for each span of records of sorted data. */
#ifndef KSV_SEGMENT_ORGANISATION_SPARSE_H
#define KSV_SEGMENT_ORGANISATION_SPARSE_H

#include "base/memory.h"
#include "segment/organisation.h"
#include "sorted/sorted_reader.h"

/* What an index of sorted tables turns to for the sparse ones among them: it
 * opens, writes and merges nothing itself. */
extern const organisation organisation_sparse;

/* Makes `out`, whose file is open, the table of `reader`, which is sparse;
 * takes ownership of the reader, on failure too. */
ksv_status sparse_table_adopt(const segment_place *place,
                              const catalog_segment *segment,
                              sorted_reader *reader, segment_table *out,
                              ksv_error *error);

/* The first key of a table and its last one, appended; nothing when it has
 * none.
 */
ksv_status sorted_table_bounds(sorted_reader *reader, byte_buffer *low,
                               byte_buffer *high, ksv_error *error);

#endif
