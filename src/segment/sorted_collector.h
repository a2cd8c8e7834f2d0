/* SPDX-License-Identifier: MIT */
/* Collects entries in the order of their keys. */
#ifndef KSV_SEGMENT_SORTED_COLLECTOR_H
#define KSV_SEGMENT_SORTED_COLLECTOR_H

#include "segment/segment_collector.h"
#include "segment/sorted_segment.h"

ksv_status sorted_collector_open(const collector_options *options,
                                 segment_collector **out, ksv_error *error);

/* For tables that `write_table` writes. */
ksv_status sorted_collector_open_for(const collector_options *options,
                                     keyed_table_fn write_table,
                                     segment_collector **out, ksv_error *error);

#endif
