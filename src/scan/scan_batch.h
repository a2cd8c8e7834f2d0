/* SPDX-License-Identifier: MIT */
/* Hands the records of a reader to the one who asked for a scan. */
#ifndef KSV_SCAN_SCAN_BATCH_H
#define KSV_SCAN_SCAN_BATCH_H

#include "scan/file_scan.h"

typedef struct scan_batch {
    const file_scan *scan;
    unsigned worker;
    scan_record *records;
} scan_batch;

/* For worker number `worker` of `scan`. To be released in every case. */
ksv_status scan_batch_init(scan_batch *batch, const file_scan *scan,
                           unsigned worker, ksv_error *error);
void scan_batch_release(scan_batch *batch);

/* Gives all records that are left in what `reader` was fed. */
ksv_status scan_batch_give(scan_batch *batch, record_reader *reader,
                           uint64_t chunk, ksv_error *error);

#endif
