/* SPDX-License-Identifier: MIT */
/* Opens the data file of a segment, with its access points where it needs them.
 */
#ifndef KSV_SEGMENT_SEGMENT_DATA_H
#define KSV_SEGMENT_SEGMENT_DATA_H

#include "datafile/datafile.h"
#include "segment/segment.h"

/* Opens `file`, which lies at `path`. `segment` is its segment, or NULL when
 * nothing in it has a key (then a compressed file cannot be opened). Errors
 * name the data file as the user gave it, or the sidecar when that is to blame.
 */
ksv_status segment_open_data(const segment_place *place,
                             const catalog_segment *segment,
                             const catalog_file *file, const char *path,
                             datafile **out, ksv_error *error);

/* Names the right file in an error that reading from it gave. */
void segment_data_error(const catalog_file *file, ksv_error *error);

#endif
