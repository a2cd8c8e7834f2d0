/* SPDX-License-Identifier: MIT */
/* What a grown data file has before what was appended. */
#ifndef KSV_BUILD_GROWN_FILE_H
#define KSV_BUILD_GROWN_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "build/build_progress.h"
#include "catalog/catalog.h"
#include "datafile/datafile.h"
#include "scan/scan_spec.h"
#include "segment/segment.h"

/* A data file that is longer than it was. Borrowed members, set by the caller.
 */
typedef struct grown_file {
    const segment_place *place;
    const char *open_path;
    const char *given_path;
    const catalog_file *before;
    const scan_spec *spec;
    build_progress *progress;
    /* What was found out since. */
    datafile *data; /* gives the content that was there before */
    ksv_file_info info;
    bool marker_is_gone; /* see data_identity_lost_marker() */
    uint64_t read_bytes; /* of the file, so far */
} grown_file;

/* The record that was the last one. */
typedef struct last_record {
    bool is_known;    /* else it is not what the catalog says */
    bool is_complete; /* whatever is appended */
    bool has_key;
    byte_buffer key;     /* released by the caller */
    uint64_t end_offset; /* with its terminator, when it is complete */
} last_record;

/* What is wrong with the access points of a compressed file is
 * KSV_ERROR_CORRUPT. Closed in any case. */
ksv_status grown_file_open(grown_file *grown, ksv_error *error);
void grown_file_close(grown_file *grown);

/* Whether what was there before is still the same: by samples, or all of it. */
ksv_status grown_file_is_same(grown_file *grown, bool by_samples, bool *is_same,
                              ksv_error *error);

/* Reads the last record as it was before. `last->key` is initialised; it is to
 * be released on failure, too. */
ksv_status grown_file_last_record(grown_file *grown, last_record *last,
                                  ksv_error *error);

/* The error of one that goes on changing: KSV_ERROR_STALE. */
ksv_status grown_file_changed(const grown_file *grown, ksv_error *error);

#endif
