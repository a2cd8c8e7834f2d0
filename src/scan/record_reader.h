/* SPDX-License-Identifier: MIT */
/* Splits content into records and takes the key from each. */
#ifndef KSV_SCAN_RECORD_READER_H
#define KSV_SCAN_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "base/memory.h"
#include "scan/record_marks.h"
#include "scan/scan_spec.h"

typedef enum scan_record_kind {
    SCAN_RECORD_KEYED = 0,
    /* A part of the key is not there or empty. */
    SCAN_RECORD_WITHOUT_KEY = 1,
    /* Skipped by `skip_bad_records`: `length` may cover more than one. */
    SCAN_RECORD_BAD = 2
} scan_record_kind;

typedef struct scan_record {
    uint64_t offset; /* of the content, uncompressed */
    uint64_t length; /* without the terminator */
    /* Of a keyed record; valid until the next call on the reader. */
    const uint8_t *key;
    size_t key_bytes;
    scan_record_kind kind;
} scan_record;

/* A push parser: it is fed pieces of the content in order, of any sizes, and
 * gives the records that end in them. It holds no more than the key of the
 * record that it is in, so records may be of any length. One thread at a time.
 */
typedef struct record_reader record_reader;

/* `spec` is borrowed and has to outlive the reader. */
ksv_status record_reader_open(const scan_spec *spec, bool skip_bad_records,
                              const ksv_allocator *allocator,
                              record_reader **out, ksv_error *error);
void record_reader_close(record_reader *reader);

/* Begins a new content at its first byte: byte order mark, header, refusals
 * (UTF-16, unless records have a fixed size; lone CRs where nothing else ends
 * a record). */
void record_reader_begin(record_reader *reader);

/* Begins in the middle: a record begins at `offset`. `layout` is what
 * record_reader_layout() gave for this content (KSV_ERROR_CORRUPT when it
 * cannot have been). */
ksv_status record_reader_begin_at(record_reader *reader, const void *layout,
                                  size_t layout_bytes, uint64_t offset,
                                  ksv_error *error);

/* Gives the next piece: `data` is borrowed until record_reader_next() has
 * answered 0 records. `last` ends the content. */
void record_reader_feed(record_reader *reader, const uint8_t *data,
                        size_t size_bytes, bool last);

/* The same for what begins at `position` of a stretch with complete marks, at a
 * record, in a format that has them. */
void record_reader_feed_marked(record_reader *reader, const record_marks *marks,
                               size_t position, bool last);

/* Up to `capacity` records that end in what was fed; `*count` 0 means that all
 * of it is used up. Records before an error are given before it is told.
 * KSV_ERROR_DATA has a byte offset (of the content) and no line; after an error
 * the reader must begin again. */
ksv_status record_reader_next(record_reader *reader, scan_record *records,
                              size_t capacity, size_t *count, ksv_error *error);

/* Whether a record was given since the reader began. */
bool record_reader_has_first(const record_reader *reader);

/* What lookups need to know of this content, once a record was read or the
 * content has ended: the columns that the header resolved, where the header
 * lies. Appended to `out`. */
ksv_status record_reader_layout(const record_reader *reader, byte_buffer *out,
                                ksv_error *error);

/* Where the header line lies in a content of that layout; `*length` 0: it has
 * none. */
ksv_status record_layout_header(const void *layout, size_t layout_bytes,
                                uint64_t *offset, uint64_t *length,
                                ksv_error *error);

/* Whether `offset` can be the start of a record: it is the first of the
 * content, or `byte_before` ends one. */
bool record_may_start_at(const scan_spec *spec, uint64_t offset,
                         uint8_t byte_before);

#endif
