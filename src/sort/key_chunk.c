/* SPDX-License-Identifier: MIT */
/* Memory for some entries of whole keys: the bytes of the keys from its
 * beginning, fixed items from its end. */
#include "sort/key_chunk.h"

#include <string.h>

#include "base/memory.h"
#include "io/large_pages.h"

/* So that items are aligned. */
#define UNIT_BYTES sizeof(uint64_t)
#define HEAD_BYTES \
    ((sizeof(key_chunk) + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES)

size_t key_chunk_bytes_for(size_t key_bytes)
{
    return HEAD_BYTES + sizeof(key_item) + key_bytes + UNIT_BYTES;
}

void key_chunk_clear(key_chunk *chunk)
{
    chunk->used_bytes = 0;
    chunk->count = 0;
    chunk->items = (key_item *)(void *)(chunk->data + chunk->data_bytes);
}

key_chunk *key_chunk_make(const ksv_allocator *allocator, size_t total_bytes)
{
    key_chunk *chunk = memory_alloc(allocator, total_bytes);
    if (chunk == NULL)
        return NULL;
    large_pages_ask(chunk, total_bytes);
    *chunk = (key_chunk){.total_bytes = total_bytes,
                         .data = (uint8_t *)chunk + HEAD_BYTES,
                         .data_bytes = (total_bytes - HEAD_BYTES) / UNIT_BYTES *
                                       UNIT_BYTES};
    key_chunk_clear(chunk);
    return chunk;
}

void key_chunk_free(const ksv_allocator *allocator, key_chunk *chunk)
{
    memory_free(allocator, chunk, chunk->total_bytes);
}

bool key_chunk_add(key_chunk *chunk, const void *key, size_t key_bytes,
                   uint64_t payload)
{
    size_t items_at = chunk->data_bytes - chunk->count * sizeof(key_item);
    size_t room = items_at - chunk->used_bytes;
    if (room < sizeof(key_item) || room - sizeof(key_item) < key_bytes)
        return false;
    if (key_bytes > 0)
        memcpy(chunk->data + chunk->used_bytes, key, key_bytes);
    *--chunk->items = (key_item){.payload = payload,
                                 .offset = (uint32_t)chunk->used_bytes,
                                 .key_bytes = (uint32_t)key_bytes};
    chunk->used_bytes += key_bytes;
    chunk->count++;
    return true;
}
