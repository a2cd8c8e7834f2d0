/* SPDX-License-Identifier: MIT */
/* A place between the records that a sparse table leads to. */
#ifndef KSV_SEGMENT_SPARSE_CURSOR_H
#define KSV_SEGMENT_SPARSE_CURSOR_H

#include "segment/sparse_span.h"
#include "sorted/sorted_cursor.h"

/* One thread at a time. Keeps the span that it read last. */
typedef struct sparse_cursor {
    const sparse_place *place; /* borrowed */
    sorted_cursor *index;
    sparse_span span;
    byte_buffer first_key;
    /* With a span loaded, `index` is at the entry of the next one, unless there
     * is none. */
    bool has_next;
    size_t at; /* number of the record in the span */
} sparse_cursor;

/* `reader` and `place` have to outlive the cursor. */
ksv_status sparse_cursor_open(sorted_reader *reader, const sparse_place *place,
                              sparse_cursor **out, ksv_error *error);
void sparse_cursor_close(sparse_cursor *cursor); /* NULL is allowed */

/* As the functions of sorted_cursor.h, of records that live. */
ksv_status sparse_cursor_move(sparse_cursor *cursor, table_move where,
                              sorted_key key, bool *found, ksv_error *error);
ksv_status sparse_cursor_find(sparse_cursor *cursor, sorted_key key,
                              sorted_payload_fn visit, void *ctx,
                              ksv_error *error);
void sparse_cursor_forget(sparse_cursor *cursor);

static inline sorted_key sparse_cursor_key(const sparse_cursor *cursor)
{
    return sparse_span_key(&cursor->span, cursor->at);
}

static inline uint64_t sparse_cursor_payload(const sparse_cursor *cursor)
{
    return cursor->span.records[cursor->at].payload;
}

/* Of all that it has done. */
table_cost sparse_cursor_cost(const sparse_cursor *cursor);

#endif
