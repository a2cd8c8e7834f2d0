/* SPDX-License-Identifier: MIT */
/* What the reader of a format builds on: windows, key parts, operations. */
#ifndef KSV_SCAN_RECORD_READER_PRIVATE_H
#define KSV_SCAN_RECORD_READER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "scan/record_layout.h"
#include "scan/record_reader.h"
#include "scan/record_span.h"

/* A value that comes in pieces: it points to where it lies as long as it lies
 * there in one stretch, and is copied only when it does not. */
typedef struct part_value {
    const uint8_t *data;
    size_t size;
    bool present; /* its field or member is there, perhaps empty */
    bool copied;  /* `data` is that of `copy` */
    byte_buffer copy;
} part_value;

/* The operations of a format. Its structure begins with a record_reader. */
typedef struct reader_ops {
    size_t reader_bytes; /* of the structure; it comes filled with zeros */
    /* Prepares what a reader needs for its lifetime; NULL: nothing. */
    ksv_status (*open)(record_reader *reader, ksv_error *error);
    /* Releases it, also after a failed open(); NULL: nothing. */
    void (*close)(record_reader *reader);
    /* Forgets all that was read. `in_middle`: a record begins here and
     * `reader->layout` is filled in, from untrusted bytes; otherwise this is
     * the start of the content, a byte order mark already behind. */
    ksv_status (*begin)(record_reader *reader, bool in_middle,
                        ksv_error *error);
    /* Gives records, at most `capacity` and while !reader_batch_is_full().
     * `*count` (0 on entry) stays 0 only when the window is used up; with
     * `reader->last` the last record, too, has been given then. It counts the
     * complete records also when the call fails. */
    ksv_status (*next)(record_reader *reader, scan_record *records,
                       size_t capacity, size_t *count, ksv_error *error);
    /* The window goes away: copies what points into it, beside the parts of
     * the key; NULL: nothing. */
    ksv_status (*hold)(record_reader *reader, ksv_error *error);
} reader_ops;

typedef enum reader_stage {
    READER_AT_HEAD = 0, /* a byte order mark may still come */
    READER_IN_CONTENT,
    READER_AT_END
} reader_stage;

#define READER_HEAD_BYTES 3

struct record_reader {
    /* For the reader of a format: */
    const scan_spec *spec;
    ksv_allocator allocator;
    bool skip_bad_records;
    /* The window: `data`[0] lies at `window_offset` of the content; the next
     * byte to look at is `data`[`position`]. `last`: nothing follows it. */
    const uint8_t *data;
    size_t size;
    size_t position;
    uint64_t window_offset;
    bool last;
    /* The parts of the key of the record being read. */
    part_value *parts;
    /* header_offset, header_length and columns are the format's to fill in. */
    record_layout layout;
    record_span *span; /* NULL before reader_cut_span() was called */

    /* For record_reader.c: */
    const record_marks *marks; /* of the window; NULL: it has none */
    const record_marks *fed_marks;
    const reader_ops *ops;
    reader_stage stage;
    byte_buffer keys; /* copied keys of the records given last */
    bool gave_record;
    /* What was fed and is not the window yet. */
    const uint8_t *fed;
    size_t fed_bytes;
    uint64_t fed_offset;
    bool fed_last;
    bool has_fed;
    uint8_t head[READER_HEAD_BYTES];
    size_t head_bytes;
    bool failed;
    ksv_error failure; /* told after the records before it */
};

/* The readers. */
extern const reader_ops delimited_reader_ops; /* csv, tsv */
extern const reader_ops line_reader_ops;
extern const reader_ops fixed_reader_ops;
extern const reader_ops jsonl_reader_ops;
extern const reader_ops fasta_reader_ops;
extern const reader_ops fastq_reader_ops;

/* Where the next byte lies in the content. */
static inline uint64_t reader_offset(const record_reader *reader)
{
    return reader->window_offset + reader->position;
}

/* So many copied keys that the records had better be handed over. */
#define READER_BATCH_BYTES ((size_t)1 << 20)
static inline bool reader_batch_is_full(const record_reader *reader)
{
    return reader->keys.size >= READER_BATCH_BYTES;
}

/* Whether many records at once are asked for: only then splitting a stretch of
 * the window beforehand pays. */
static inline bool reader_wants_many(size_t capacity)
{
    return capacity > 1;
}

/* Makes sure that the reader's span begins with the record that begins at its
 * position; `*any` is false when no record ends in it. `set_up` is called once,
 * with a new span. */
typedef void (*reader_span_fn)(const record_reader *reader, record_span *span);
ksv_status reader_cut_span(record_reader *reader, reader_span_fn set_up,
                           bool *any, ksv_error *error);

/* No value. */
static inline void part_reset(part_value *part)
{
    part->data = NULL;
    part->size = 0;
    part->present = false;
    part->copied = false;
}

/* An empty value, which replaces an earlier one. */
static inline void part_begin(part_value *part)
{
    part_reset(part);
    part->present = true;
}

ksv_status part_append_copy(part_value *part, const uint8_t *data, size_t size,
                            ksv_error *error);

/* Adds a piece; `data` stays valid until part_hold() or the next record. */
static inline ksv_status part_add(part_value *part, const uint8_t *data,
                                  size_t size, ksv_error *error)
{
    if (size == 0)
        return KSV_OK;
    if (part->size == 0) {
        part->data = data;
        part->size = size;
        return KSV_OK;
    }
    if (!part->copied && part->data + part->size == data) {
        part->size += size;
        return KSV_OK;
    }
    return part_append_copy(part, data, size, error);
}

/* Adds what of a piece lies in `range` (a KEY_PART_BYTES); `before` bytes of
 * the record lie before the piece. */
ksv_status part_add_range(part_value *part, const key_part *range,
                          uint64_t before, const uint8_t *data, size_t size,
                          ksv_error *error);

/* Copies what lies elsewhere. */
ksv_status part_hold(part_value *part, ksv_error *error);
void part_release(part_value *part);

/* The record's kind and key from the parts, all of which have to be there and
 * not empty for a key; then resets them. Offset and length are the caller's. */
ksv_status reader_finish_key(record_reader *reader, scan_record *record,
                             ksv_error *error);

#endif
