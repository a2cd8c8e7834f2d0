/* SPDX-License-Identifier: MIT */
/* The first keys of spans of a data file, for as long as its records come in
 * the order of their keys. */
#ifndef KSV_SEGMENT_SPAN_STARTS_H
#define KSV_SEGMENT_SPAN_STARTS_H

#include <stdatomic.h>

#include "base/memory.h"
#include "segment/segment_collector.h"
#include "sorted/sorted_table.h"

/* Where the records with keys that begin in a span of the data start: spans are
 * cut at multiples of their size, so that it does not matter who reads which
 * piece of the data. */
typedef struct span_start {
    uint64_t offset;
    uint64_t key_at; /* in the keys of the adder */
    uint32_t key_bytes;
    uint32_t last_bytes; /* of the last key, behind it, where that is kept */
    uint32_t changes;    /* records with another key than the one before them */
    bool is_new;         /* the first key is not the last of the span before */
    bool has_last;
} span_start;

typedef struct start_adder {
    span_start *starts;
    size_t count;
    size_t capacity;
    byte_buffer keys;
    byte_buffer last; /* key */
    uint64_t last_offset;
    uint64_t span; /* number of the one that was begun last */
    uint64_t records;
    uint8_t apart[128]; /* from that of another thread, in the cache */
} start_adder;

/* One thread at a time, but for its adders. All zero is one that may be
 * released. */
typedef struct span_starts {
    const ksv_allocator *allocator; /* borrowed */
    start_adder *adders;
    unsigned adder_count;
    uint64_t most_bytes;
    _Atomic uint64_t used_bytes;
    _Atomic bool is_off; /* out of order, or too much to keep */
    size_t *next;        /* of each adder, on the way through all */
    bool gave_last;
} span_starts;

ksv_status span_starts_init(span_starts *starts, const ksv_allocator *allocator,
                            unsigned adders, uint64_t most_bytes,
                            ksv_error *error);
void span_starts_release(span_starts *starts);

ksv_status span_starts_add(span_starts *starts, unsigned adder,
                           const collector_batch *batch, ksv_error *error);

/* What all of it comes to. */
typedef struct span_starts_sum {
    uint64_t entries;
    uint64_t distinct_keys;
} span_starts_sum;

/* Whether the data, of `limit` bytes and `records` records with keys, is in
 * order and better served by its spans. */
bool span_starts_settle(span_starts *starts, uint64_t limit, uint64_t records,
                        span_starts_sum *sum);

/* A sorted_source of what was settled: starts in order, and the last record. */
void span_starts_rewind(span_starts *starts);
ksv_status span_starts_next(void *starts, sorted_key *key, uint64_t *payload,
                            bool *end, ksv_error *error);

#endif
