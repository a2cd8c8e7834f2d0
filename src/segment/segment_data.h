/* SPDX-License-Identifier: MIT */
/* Opens a data file, with its access points where it needs them. */
#ifndef KSV_SEGMENT_SEGMENT_DATA_H
#define KSV_SEGMENT_SEGMENT_DATA_H

#include "datafile/datafile.h"
#include "segment/segment.h"

/* Opens `file`, which lies at `path`. One that is compressed cannot be opened
 * when nothing in it has a key: it has no access points. Errors name the data
 * file as the user gave it, or the sidecar when that is to blame. */
ksv_status segment_open_data(const segment_place *place,
                             const catalog_file *file, const char *path,
                             datafile **out, ksv_error *error);

/* The same for one that is larger than it was: what it held before can be read.
 */
ksv_status segment_open_grown_data(const segment_place *place,
                                   const catalog_file *file, const char *path,
                                   datafile **out, ksv_error *error);

/* Where the access points of a compressed file are (`*path` is to be freed with
 * memory_free_string()), and their id. */
ksv_status segment_points_path(const segment_place *place,
                               const catalog_file *file, char **path,
                               uint8_t id[16], ksv_error *error);

/* Names the right file in an error that reading from it gave, and returns what
 * it is: KSV_ERROR_STALE when there is no file at `path` any more. */
ksv_status segment_data_error(const catalog_file *file, const char *path,
                              ksv_error *error);

#endif
