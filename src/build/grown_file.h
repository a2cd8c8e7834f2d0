/* SPDX-License-Identifier: MIT */
/* What a grown data file has behind what was indexed, and before. */
#ifndef KSV_BUILD_GROWN_FILE_H
#define KSV_BUILD_GROWN_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "build/build_progress.h"
#include "catalog/catalog.h"
#include "datafile/content_hash.h"
#include "scan/record_reader.h"

/* A plain file that is open and longer than it was. Borrowed members. */
typedef struct grown_file {
    ksv_file *file;
    ksv_file_info info;
    const char *given_path;
    const catalog_file *before;
    const scan_spec *spec;
    build_progress *progress;
    const ksv_allocator *allocator;
    uint64_t read_bytes; /* so far */
} grown_file;

/* The record that was the last one. */
typedef struct last_record {
    bool is_known;    /* else it is not what the catalog says */
    bool is_complete; /* whatever is appended */
    bool has_key;
    byte_buffer key;     /* released by the caller */
    uint64_t end_offset; /* with its terminator, when it is complete */
} last_record;

/* Takes records in order; an error ends the reading. */
typedef ksv_status (*grown_records_fn)(void *ctx, const scan_record *records,
                                       size_t count, ksv_error *error);

/* Whether what was there before is still the same: by samples, or all of it. */
ksv_status grown_file_is_same(grown_file *grown, bool by_samples, bool *is_same,
                              ksv_error *error);

/* Reads the last record as it was before. `last->key` is initialised; it is to
 * be released on failure, too. */
ksv_status grown_file_last_record(grown_file *grown, last_record *last,
                                  ksv_error *error);

/* Gives the records from `offset` on, where one begins, and goes on with the
 * content hash: `file` gets it, its chain, the fingerprint and the sizes. What
 * is read on the way of what was there before may show that it has changed:
 * then `*is_same` is false. A file that changes meanwhile is KSV_ERROR_STALE.
 */
ksv_status grown_file_read(grown_file *grown, uint64_t offset,
                           grown_records_fn take, void *ctx, catalog_file *file,
                           bool *is_same, ksv_error *error);

#endif
