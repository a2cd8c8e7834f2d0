/* SPDX-License-Identifier: MIT */
/* Sorts the entries of one partition in memory. */
#ifndef KSV_SORT_PARTITION_SORT_H
#define KSV_SORT_PARTITION_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "hash/hash_entry.h"

/* Entries that lie together. */
typedef struct entry_span {
    const hash_entry *entries;
    size_t count;
} entry_span;

/* How to sort, and memory for it. One thread at a time. */
typedef struct partition_sorter {
    const ksv_allocator *allocator; /* borrowed */
    unsigned top_bits;              /* that all entries of a partition share */
    unsigned hash_bits;             /* that are sorted by */
    uint32_t *starts;               /* of buckets */
} partition_sorter;

/* To be released in every case. */
ksv_status partition_sorter_init(partition_sorter *sorter,
                                 const ksv_allocator *allocator,
                                 unsigned top_bits, unsigned hash_bits,
                                 ksv_error *error);
void partition_sorter_release(partition_sorter *sorter);

/* Puts the entries of all spans, below 2^32, into `out`, sorted by (truncated
 * hash, payload). `spare` is memory for as many, or NULL: it is allocated for
 * the time when it is needed. It may be that of a single span. */
ksv_status partition_sort(const partition_sorter *sorter,
                          const entry_span *spans, size_t span_count,
                          hash_entry *out, hash_entry *spare, ksv_error *error);

#endif
