/* SPDX-License-Identifier: MIT */
/* The blocks of a filter in memory, one a cache line. */
#include "filter/filter_memory.h"

#include <string.h>

#include "base/error.h"
#include "filter/bloom_block.h"

/* An allocator aligns for any type, not for cache lines. */
#define SLACK_BYTES (BLOOM_BLOCK_BYTES - 1)

ksv_status filter_memory_init(filter_memory *blocks, const ksv_allocator *a,
                              uint64_t size_bytes, ksv_error *error)
{
    *blocks = (filter_memory){0};
    if (size_bytes > SIZE_MAX - SLACK_BYTES)
        return error_set_memory(error);
    blocks->memory = memory_alloc(a, (size_t)size_bytes + SLACK_BYTES);
    if (blocks->memory == NULL)
        return error_set_memory(error);
    blocks->size_bytes = (size_t)size_bytes;
    size_t misplaced = (uintptr_t)blocks->memory % BLOOM_BLOCK_BYTES;
    blocks->data = (uint8_t *)blocks->memory +
                   (misplaced > 0 ? BLOOM_BLOCK_BYTES - misplaced : 0);
    return KSV_OK;
}

void filter_memory_clear(filter_memory *blocks)
{
    memset(blocks->data, 0, blocks->size_bytes);
}

void filter_memory_release(filter_memory *blocks, const ksv_allocator *a)
{
    if (blocks->memory != NULL)
        memory_free(a, blocks->memory, blocks->size_bytes + SLACK_BYTES);
    *blocks = (filter_memory){0};
}
