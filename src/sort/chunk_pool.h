/* SPDX-License-Identifier: MIT */
/* Memory for entries in chunks of one size, up to a limit. */
#ifndef KSV_SORT_CHUNK_POOL_H
#define KSV_SORT_CHUNK_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include <keysieve/memory.h>

#include "hash/hash_entry.h"

/* Chunks lie at multiples of their size: a pointer into one says where it
 * begins and ends. */
#define CHUNK_BYTES 4096
#define CHUNK_ENTRIES (CHUNK_BYTES / sizeof(hash_entry) - 1)

typedef struct entry_chunk {
    struct entry_chunk *next;
    size_t first; /* where its entries begin */
    hash_entry entries[CHUNK_ENTRIES];
} entry_chunk;

typedef struct chunk_block chunk_block;

/* One thread at a time. */
typedef struct chunk_pool {
    const ksv_allocator *allocator; /* borrowed */
    size_t limit_bytes;             /* of all blocks */
    size_t first_bytes;             /* of the first block */
    size_t total_bytes;             /* of the blocks there are */
    chunk_block *first;
    chunk_block *current; /* chunks are taken from; NULL: none yet */
    size_t used;          /* chunks of it that were taken */
} chunk_pool;

/* `first_bytes` is what will probably be needed. */
void chunk_pool_init(chunk_pool *pool, const ksv_allocator *allocator,
                     size_t first_bytes, size_t limit_bytes);

/* A chunk of any content but for `next`, which is NULL. NULL: at the limit
 * (`*full`), or memory is out. */
entry_chunk *chunk_pool_take(chunk_pool *pool, bool *full);

/* Takes all chunks back; the memory stays. */
void chunk_pool_reset(chunk_pool *pool);
/* Gives the memory back; the pool is as after chunk_pool_init(). */
void chunk_pool_release(chunk_pool *pool);

#endif
