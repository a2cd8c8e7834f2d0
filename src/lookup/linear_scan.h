/* SPDX-License-Identifier: MIT */
/* Answers by reading every data file from its start. */
#ifndef KSV_LOOKUP_LINEAR_SCAN_H
#define KSV_LOOKUP_LINEAR_SCAN_H

#include <keysieve/index.h>

#include "lookup/index_snapshot.h"

/* As ksv_get() with `linear_scan`; needs neither filter nor table. */
ksv_status linear_scan(index_snapshot *snapshot, const ksv_key *keys,
                       size_t key_count, const ksv_lookup_options *options,
                       ksv_record_fn visit, void *ctx, ksv_receipt *receipt,
                       ksv_error *error);

/* Visits every record that has a key, of files as they are now. */
ksv_status linear_keys(index_snapshot *snapshot, ksv_record_fn visit, void *ctx,
                       ksv_error *error);

#endif
