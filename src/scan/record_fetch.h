/* SPDX-License-Identifier: MIT */
/* Reads the one record that begins at a known offset. */
#ifndef KSV_SCAN_RECORD_FETCH_H
#define KSV_SCAN_RECORD_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/memory.h>

#include "datafile/datafile.h"
#include "scan/record_reader.h"

/* A content to fetch from. Borrowed members. */
typedef struct record_source {
    datafile *file;
    const void *layout; /* of the scan layer, for this content */
    size_t layout_bytes;
    uint64_t content_bytes;
    uint64_t longest_record_bytes;
    uint64_t records;
    /* What record_source_measure() has found, or 0: it is found each time. */
    size_t first_read_bytes;
} record_source;

/* Fills what fetches derive from the other members: worth it when many records
 * are fetched from one source. */
void record_source_measure(record_source *source);

typedef struct fetched_record {
    scan_record record;
    /* Its bytes, or NULL when it is longer than RECORD_FETCH_HOLD_BYTES. */
    const uint8_t *data;
} fetched_record;

/* The longest record that is held in memory as a whole. */
#define RECORD_FETCH_HOLD_BYTES (16u * 1024 * 1024)

/* Buffers to fetch with; reused from record to record. One thread at a time. */
typedef struct record_fetch record_fetch;

/* `spec` is borrowed. */
ksv_status record_fetch_open(const scan_spec *spec,
                             const ksv_allocator *allocator, record_fetch **out,
                             ksv_error *error);
void record_fetch_close(record_fetch *fetch);

/* The memory of its buffer, which grows with the longest record met. */
size_t record_fetch_held_bytes(const record_fetch *fetch);

/* Fetches the record at `offset`; what `out` points to is valid until the next
 * fetch. One read where the record is not much longer than others of its file.
 * KSV_ERROR_STALE when no record can begin there or what stands there is not a
 * record: the content is not what was indexed. `cost` is added to. */
ksv_status record_fetch_at(record_fetch *fetch, const record_source *source,
                           uint64_t offset, fetched_record *out,
                           datafile_cost *cost, ksv_error *error);

/* The bytes of the content that the first read for a record at `offset` takes:
 * the one before the record, if there is one, and enough for all but records
 * that are much longer than others. */
typedef struct fetch_span {
    uint64_t offset;
    size_t size_bytes;
} fetch_span;

fetch_span record_fetch_span(const record_source *source, uint64_t offset);

/* As record_fetch_at() when the bytes of its span stand in memory already:
 * `size_bytes` of them, fewer than the span has only at the end of the content.
 * What `out` points to may lie in `bytes`. Of a record that goes on
 * beyond them the rest is read. */
ksv_status record_fetch_in(record_fetch *fetch, const record_source *source,
                           uint64_t offset, const uint8_t *bytes,
                           size_t size_bytes, fetched_record *out,
                           datafile_cost *cost, ksv_error *error);

#endif
