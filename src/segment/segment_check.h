/* SPDX-License-Identifier: MIT */
/* Reads every byte of a segment's sidecars. */
#ifndef KSV_SEGMENT_SEGMENT_CHECK_H
#define KSV_SEGMENT_SEGMENT_CHECK_H

#include "segment/segment.h"

/* Checks the sidecars of `segment`: every checksum, the order and number of
 * entries, that payloads are below `payload_limit`, and that the filter holds
 * every key of the table. KSV_ERROR_CORRUPT names the file. */
ksv_status segment_check(const segment_place *place,
                         const catalog_segment *segment, uint64_t payload_limit,
                         ksv_error *error);

/* Whether the sidecars are there with the sizes that they should have. */
bool segment_is_there(const segment_place *place,
                      const catalog_segment *segment);

#endif
