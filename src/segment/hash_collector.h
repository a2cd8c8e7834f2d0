/* SPDX-License-Identifier: MIT */
/* Collects entries in the order of their hashes. */
#ifndef KSV_SEGMENT_HASH_COLLECTOR_H
#define KSV_SEGMENT_HASH_COLLECTOR_H

#include "segment/segment_collector.h"

ksv_status hash_collector_open(const collector_options *options,
                               segment_collector **out, ksv_error *error);

/* Copies all entries of a finished sorter into memory. */
ksv_status hash_collector_keep_entries(entry_sorter *sorter,
                                       const ksv_allocator *allocator,
                                       kept_entries *out,
                                       sorter_distinct *distinct,
                                       ksv_error *error);

#endif
