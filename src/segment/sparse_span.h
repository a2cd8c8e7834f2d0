/* SPDX-License-Identifier: MIT */
/* The records of a span of a data file whose table has one entry a span. */
#ifndef KSV_SEGMENT_SPARSE_SPAN_H
#define KSV_SEGMENT_SPARSE_SPAN_H

#include "base/memory.h"
#include "scan/record_reader.h"
#include "segment/organisation.h"
#include "segment/table_data.h"
#include "sorted/sorted_table.h"

/* No span is longer: one read gets it. */
#define SPARSE_SPAN_MOST_BYTES ((uint64_t)1 << 20)

/* What a sparse table is about. Borrowed members. */
typedef struct sparse_place {
    const ksv_allocator *allocator;
    const table_data *data; /* NULL: there is none */
    catalog_part part;      /* in which all living entries are */
} sparse_place;

/* Every living entry has a payload below this. */
static inline uint64_t sparse_limit(const sparse_place *place)
{
    return place->part.is_dead ? 0 : place->part.length_bytes;
}

/* A record with a key; the key is among those of the span. */
typedef struct span_record {
    uint64_t payload;
    size_t key_at;
    size_t key_bytes;
} span_record;

/* One thread at a time. All zero but for `place`: nothing is loaded. */
typedef struct sparse_span {
    const sparse_place *place; /* borrowed */
    record_reader *reader;
    byte_buffer data;
    byte_buffer keys;
    span_record *records;
    size_t count;
    size_t capacity;
    bool is_loaded;
    uint64_t first; /* payload of what is loaded, */
    uint64_t end;   /* and of what is behind it */
    uint64_t reads;
    uint64_t bytes_read;
    uint64_t files_opened;
} sparse_span;

void sparse_span_init(sparse_span *span, const sparse_place *place);
void sparse_span_release(sparse_span *span);

/* Loads the records from payload `first` on, of which the first has `key`, up
 * to `end`: at least that one. What is loaded already is not read again, but
 * whether the data is fresh is asked all the same. Data that is not what was
 * indexed is KSV_ERROR_STALE; bounds that cannot be are KSV_ERROR_CORRUPT. */
ksv_status sparse_span_load(sparse_span *span, uint64_t first, uint64_t end,
                            sorted_key key, ksv_error *error);

static inline sorted_key sparse_span_key(const sparse_span *span, size_t record)
{
    const span_record *r = &span->records[record];
    return (sorted_key){span->keys.data + r->key_at, r->key_bytes};
}

/* The number of records whose keys come before `key`. */
size_t sparse_span_find(const sparse_span *span, sorted_key key);

#endif
