/* SPDX-License-Identifier: MIT */
/* A stretch of a filter's blocks, filled by any thread. */
#ifndef KSV_FILTER_FILTER_SPAN_H
#define KSV_FILTER_FILTER_SPAN_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/filter.h>

#include "hash/hash_entry.h"

/* Used over and over. */
typedef struct filter_span {
    ksv_allocator allocator;
    uint64_t first_block;
    size_t block_count;
    uint8_t *blocks;
    size_t capacity; /* blocks */
    uint64_t keys;   /* different truncated hashes */
    uint64_t first_hash;
    uint64_t last_hash;
} filter_span;

/* To be released in every case. */
void filter_span_init(filter_span *span, const ksv_allocator *allocator);
void filter_span_release(filter_span *span);

/* Fills the blocks between those of the first and the last of `count` (at least
 * 1) sorted entries, both included. Hashes need not be truncated. */
ksv_status filter_span_fill(filter_span *span,
                            const ksv_filter_options *options,
                            const hash_entry *entries, size_t count,
                            ksv_error *error);

#endif
