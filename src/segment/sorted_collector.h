/* SPDX-License-Identifier: MIT */
/* Collects entries in the order of their keys. */
#ifndef KSV_SEGMENT_SORTED_COLLECTOR_H
#define KSV_SEGMENT_SORTED_COLLECTOR_H

#include "segment/segment_collector.h"
#include "segment/sorted_segment.h"

ksv_status sorted_collector_open(const collector_options *options,
                                 segment_collector **out, ksv_error *error);

#endif
