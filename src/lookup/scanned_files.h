/* SPDX-License-Identifier: MIT */
/* Data files that are read from their start, and records of them after that. */
#ifndef KSV_LOOKUP_SCANNED_FILES_H
#define KSV_LOOKUP_SCANNED_FILES_H

#include <keysieve/index.h>

#include "lookup/index_snapshot.h"
#include "scan/file_scan.h"

#define SCANNED_OPEN_FILES 16

/* A record that was found on the way. */
typedef struct scanned_record {
    size_t file;
    uint64_t offset;
    uint64_t length;
} scanned_record;

/* One thread at a time. */
typedef struct scanned_files {
    index_snapshot *snapshot; /* borrowed */
    ksv_file_info *infos;     /* what each file was when it was read */
    /* The files that records were fetched from last, open so that neighbours
     * are reached without opening and inflating anew. */
    datafile *open[SCANNED_OPEN_FILES];
    size_t open_file[SCANNED_OPEN_FILES];
} scanned_files;

/* To be closed in every case. */
ksv_status scanned_files_open(scanned_files *files, index_snapshot *snapshot,
                              ksv_error *error);
void scanned_files_close(scanned_files *files);

/* Reads one file. */
ksv_status scanned_files_scan(scanned_files *files, size_t file,
                              file_scan_records_fn records, void *ctx,
                              ksv_receipt *receipt, ksv_error *error);

/* Reads a record of a file that was scanned, and visits it. */
ksv_status scanned_files_visit(scanned_files *files,
                               const scanned_record *found, ksv_key key,
                               size_t key_number, bool no_data,
                               ksv_record_fn visit, void *ctx,
                               ksv_receipt *receipt, ksv_error *error);

#endif
