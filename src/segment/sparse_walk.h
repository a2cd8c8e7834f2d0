/* SPDX-License-Identifier: MIT */
/* Goes over all records that a sparse table leads to, and checks the table. */
#ifndef KSV_SEGMENT_SPARSE_WALK_H
#define KSV_SEGMENT_SPARSE_WALK_H

#include "segment/sparse_span.h"
#include "sorted/sorted_reader.h"

/* With the data of `place`: all records that live. Without: the entries of the
 * table. What is given is borrowed until the walk is closed. */
ksv_status sparse_walk_open(sorted_reader *reader, const sparse_place *place,
                            const catalog_parameters *parameters,
                            size_t buffer_bytes, table_walk **out,
                            ksv_error *error);

#endif
