/* SPDX-License-Identifier: MIT */
/* Memory for entries in chunks of one size, up to a limit. */
#include "sort/chunk_pool.h"

#include "base/memory.h"
#include "io/large_pages.h"

/* Blocks grow with what is there already, between these sizes. */
#define LEAST_BLOCK_BYTES ((size_t)4 * CHUNK_BYTES)
#define MOST_BLOCK_BYTES ((size_t)64 << 20)

struct chunk_block {
    chunk_block *next;
    size_t bytes;
    size_t count;
    entry_chunk *chunks;
};

void chunk_pool_init(chunk_pool *pool, const ksv_allocator *allocator,
                     size_t first_bytes, size_t limit_bytes)
{
    *pool = (chunk_pool){.allocator = allocator,
                         .limit_bytes = limit_bytes,
                         .first_bytes = first_bytes};
}

static size_t next_bytes(const chunk_pool *pool)
{
    size_t wanted = pool->first == NULL ? pool->first_bytes : pool->total_bytes;
    if (wanted > MOST_BLOCK_BYTES)
        wanted = MOST_BLOCK_BYTES;
    if (wanted < LEAST_BLOCK_BYTES)
        wanted = LEAST_BLOCK_BYTES;
    size_t left = pool->limit_bytes - pool->total_bytes;
    return wanted < left ? wanted : left;
}

/* The block is its own first memory; chunks begin at the next multiple. */
static chunk_block *add_block(chunk_pool *pool, size_t bytes)
{
    void *memory = memory_alloc(pool->allocator, bytes);
    if (memory == NULL)
        return NULL;
    large_pages_ask(memory, bytes);
    chunk_block *block = memory;
    uintptr_t start = (uintptr_t)memory + sizeof *block;
    start = (start + CHUNK_BYTES - 1) & ~(uintptr_t)(CHUNK_BYTES - 1);
    size_t before = start - (uintptr_t)memory;
    *block = (chunk_block){.bytes = bytes,
                           .count = (bytes - before) / CHUNK_BYTES,
                           .chunks = (entry_chunk *)start};
    pool->total_bytes += bytes;
    return block;
}

static chunk_block *next_block(chunk_pool *pool, bool *full)
{
    chunk_block **link =
        pool->current != NULL ? &pool->current->next : &pool->first;
    if (*link == NULL) {
        size_t bytes = next_bytes(pool);
        *full = bytes < LEAST_BLOCK_BYTES;
        if (!*full)
            *link = add_block(pool, bytes);
    }
    return *link;
}

entry_chunk *chunk_pool_take(chunk_pool *pool, bool *full)
{
    *full = false;
    if (pool->current == NULL || pool->used == pool->current->count) {
        chunk_block *block = next_block(pool, full);
        if (block == NULL)
            return NULL;
        pool->current = block;
        pool->used = 0;
    }
    entry_chunk *chunk = &pool->current->chunks[pool->used++];
    chunk->next = NULL;
    return chunk;
}

void chunk_pool_reset(chunk_pool *pool)
{
    pool->current = NULL;
    pool->used = 0;
}

void chunk_pool_release(chunk_pool *pool)
{
    while (pool->first != NULL) {
        chunk_block *block = pool->first;
        pool->first = block->next;
        memory_free(pool->allocator, block, block->bytes);
    }
    pool->total_bytes = 0;
    chunk_pool_reset(pool);
}
