/* SPDX-License-Identifier: MIT */
/* What becomes of the records of a data file: entries, counts and errors. */
#ifndef KSV_BUILD_RECORD_TAKER_H
#define KSV_BUILD_RECORD_TAKER_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/hash.h>

#include "scan/record_reader.h"
#include "segment/segment_collector.h"

/* Of one worker of a scan, or the sum of several. Offsets are KSV_NO_OFFSET
 * for "none". */
typedef struct record_counts {
    uint64_t records; /* without bad ones */
    uint64_t records_without_key;
    uint64_t bad_records;
    uint64_t longest_record_bytes; /* of those with keys */
    uint64_t first_without_key;
    uint64_t first_bad;
    uint64_t last_offset; /* of the last record */
} record_counts;

void record_counts_init(record_counts *counts);
void record_counts_add(record_counts *sum, const record_counts *more);

/* One thread at a time. */
typedef struct record_taker {
    const ksv_hasher *hasher; /* borrowed, as all of these */
    const char *given_path;   /* for errors */
    segment_collector *collector;
    unsigned adder; /* its number */
    bool strict;
    bool adding_failed; /* which is not the fault of the data file */
    record_counts counts;
    uint8_t apart[128]; /* from that of another thread, in the cache */
} record_taker;

/* KSV_ERROR_DATA for a record without a key when `strict`. */
ksv_status record_taker_take(record_taker *taker, const scan_record *records,
                             size_t count, ksv_error *error);

#endif
