/* SPDX-License-Identifier: MIT */
/* Counts different hashes in a stream of sorted entries. */
#ifndef KSV_SORT_DISTINCT_COUNTER_H
#define KSV_SORT_DISTINCT_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "hash/hash_entry.h"

/* How many different hashes there are: truncated ones, as filters count, and
 * whole ones, which tell keys apart but for one pair in 2^64. */
typedef struct sorter_distinct {
    uint64_t truncated;
    uint64_t whole;
} sorter_distinct;

/* Entries of one truncated hash come together, in any order of their whole
 * hashes. Nearly always these are one key; of others, a group, the whole hashes
 * are kept, each once but for a few. */
typedef struct distinct_counter {
    const ksv_allocator *allocator; /* borrowed */
    uint64_t mask;
    sorter_distinct counts; /* of a group: one */
    bool has_last;
    uint64_t last;     /* whole hash of the last entry */
    uint64_t *group;   /* whole hashes with its truncated hash */
    size_t group_size; /* 0: only the last one */
    size_t group_capacity;
    size_t group_room; /* compare when it has grown to this */
} distinct_counter;

void distinct_counter_init(distinct_counter *counter,
                           const ksv_allocator *allocator, unsigned hash_bits);
void distinct_counter_release(distinct_counter *counter);

ksv_status distinct_counter_add(distinct_counter *counter,
                                const hash_entry *entries, size_t count,
                                ksv_error *error);

/* The counts, the last group included; what comes next begins a new one. */
sorter_distinct distinct_counter_take(distinct_counter *counter);

#endif
