/* SPDX-License-Identifier: MIT */
/* The records of a content with their bytes, as they come: of a file or a pipe.
 */
#ifndef KSV_SCAN_RECORD_STREAM_H
#define KSV_SCAN_RECORD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>

#include "datafile/datafile.h"
#include "scan/record_reader.h"
#include "scan/scan_spec.h"

typedef struct stream_record {
    scan_record_kind kind;
    bool is_ended; /* `bytes` have a terminator, or the format has none */
    const uint8_t *bytes; /* of the record, as in the content, and of its
                             terminator */
    size_t size_bytes;
    uint64_t offset;    /* of the content */
    const uint8_t *key; /* of a keyed record */
    size_t key_bytes;
    const uint8_t *second; /* what `second` takes; NULL: nothing */
    size_t second_bytes;
} stream_record;

typedef struct record_stream_options {
    const scan_spec *spec;   /* borrowed until the stream is closed */
    const scan_spec *second; /* likewise: another key of the same records, of
                                the same format; or NULL */
    bool skip_bad_records;
    const ksv_allocator *allocator;
} record_stream_options;

/* Holds the record that is being read, whole, and the piece of the content in
 * which it ends. One thread at a time. */
typedef struct record_stream record_stream;

/* `content` is borrowed and at its start; `name` is for errors, copied. */
ksv_status record_stream_open(const record_stream_options *options,
                              datafile_stream *content, const char *name,
                              record_stream **out, ksv_error *error);
/* NULL is allowed. */
void record_stream_close(record_stream *stream);

/* The next records, valid until the next call. `*count` 0: there are none, for
 * now or, with `*at_end`, for good. Records before an error are given before it
 * is told; an error in the data names line and byte. */
ksv_status record_stream_next(record_stream *stream,
                              const stream_record **records, size_t *count,
                              bool *at_end, ksv_error *error);

/* Blank lines belong to no record and are passed over. What else does, once a
 * record was given or at the end; before that nothing: */
typedef struct record_stream_head {
    bool is_known;
    bool has_mark;         /* a byte order mark */
    const uint8_t *header; /* with its terminator, if it has one */
    size_t header_bytes;   /* 0: no header */
    size_t header_length;  /* without the terminator */
} record_stream_head;

void record_stream_get_head(const record_stream *stream,
                            record_stream_head *head);

#endif
