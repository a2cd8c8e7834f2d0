/* SPDX-License-Identifier: MIT */
/* A blocked Bloom filter in memory that is filled and probed in batches. */
#ifndef KSV_WINDOW_MEMORY_FILTER_H
#define KSV_WINDOW_MEMORY_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/filter.h>

#include "base/prefetch.h"
#include "filter/bloom_block.h"
#include "filter/filter_memory.h"

/* Takes whole hashes of 64 bits. All zero is a filter without blocks: it
 * contains everything. */
typedef struct memory_filter {
    filter_memory memory;
    uint64_t blocks;
    unsigned functions;
} memory_filter;

/* An empty one. `allocator` is the one to release it with. */
ksv_status memory_filter_init(memory_filter *filter, uint64_t blocks,
                              unsigned functions,
                              const ksv_allocator *allocator, ksv_error *error);
void memory_filter_release(memory_filter *filter,
                           const ksv_allocator *allocator);

static inline uint8_t *memory_filter_block(const memory_filter *filter,
                                           uint64_t hash)
{
    return filter->memory.data +
           bloom_block_number(hash, filter->blocks) * BLOOM_BLOCK_BYTES;
}

static inline void memory_filter_prefetch(const memory_filter *filter,
                                          uint64_t hash)
{
    if (filter->blocks > 0)
        MEMORY_PREFETCH(memory_filter_block(filter, hash));
}

static inline void memory_filter_add(memory_filter *filter, uint64_t hash)
{
    if (filter->blocks > 0)
        bloom_block_add(memory_filter_block(filter, hash), hash,
                        filter->functions);
}

static inline bool memory_filter_may_contain(const memory_filter *filter,
                                             uint64_t hash)
{
    return filter->blocks == 0 ||
           bloom_block_may_contain(memory_filter_block(filter, hash), hash,
                                   filter->functions);
}

/* The same for `count` hashes, whose blocks are fetched together. */
void memory_filter_probe(const memory_filter *filter, const uint64_t *hashes,
                         size_t count, bool *may_contain);

/* Writes it as a filter file with `keys` keys; `file` is empty. */
ksv_status memory_filter_write(const memory_filter *filter,
                               const ksv_hasher *hasher, const uint8_t id[16],
                               uint64_t keys, const ksv_allocator *allocator,
                               ksv_file *file, ksv_error *error);

/* Fills the filter, which has the shape of the one in `file`, from that; what
 * is not a filter of that shape, hasher and id is KSV_ERROR_CORRUPT. */
ksv_status memory_filter_read(memory_filter *filter, const ksv_hasher *hasher,
                              const uint8_t id[16],
                              const ksv_allocator *allocator, ksv_file *file,
                              ksv_error *error);

#endif
