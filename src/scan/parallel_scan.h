/* SPDX-License-Identifier: MIT */
/* Scans one file with several threads, with the same result as with one. */
#ifndef KSV_SCAN_PARALLEL_SCAN_H
#define KSV_SCAN_PARALLEL_SCAN_H

#include "hash/hash.h"
#include "scan/file_scan.h"

/* Whether several threads are wanted, and of use, for a content that can be
 * cut. */
bool parallel_scan_is_possible(const file_scan *scan,
                               const datafile_stream *stream);

/* Gives all records and adds the content to `content`. `reader` begins the
 * content: its layout is that of the whole afterwards. A file that has shrunk
 * is KSV_ERROR_STALE. */
ksv_status parallel_scan_run(const file_scan *scan, datafile_stream *stream,
                             record_reader *reader, content_hash *content,
                             ksv_error *error);

#endif
