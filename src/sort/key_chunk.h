/* SPDX-License-Identifier: MIT */
/* Memory for some entries of whole keys: the bytes of the keys from its
 * beginning, fixed items from its end. */
#ifndef KSV_SORT_KEY_CHUNK_H
#define KSV_SORT_KEY_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>

/* `head` is for those who sort. */
typedef struct key_item {
    uint64_t head;
    uint64_t payload;
    uint32_t offset; /* of the key, in the chunk's bytes */
    uint32_t key_bytes;
} key_item;

/* No key is longer. */
#define KEY_CHUNK_MOST_KEY_BYTES ((size_t)1 << 30)

typedef struct key_chunk {
    struct key_chunk *next;
    size_t total_bytes; /* as it was allocated */
    uint8_t *data;
    size_t data_bytes; /* of keys and items together */
    size_t used_bytes; /* by keys */
    key_item *items;   /* the one that came last first, until they are sorted */
    size_t count;
} key_chunk;

/* Bytes of a chunk for one entry. */
size_t key_chunk_bytes_for(size_t key_bytes);

/* A chunk of `total_bytes`, which are below 2^32 and at least those of an empty
 * key; NULL when memory is out. */
key_chunk *key_chunk_make(const ksv_allocator *allocator, size_t total_bytes);
void key_chunk_free(const ksv_allocator *allocator, key_chunk *chunk);

/* Takes all entries out. */
void key_chunk_clear(key_chunk *chunk);

/* False: there is no room, nothing has changed. */
bool key_chunk_add(key_chunk *chunk, const void *key, size_t key_bytes,
                   uint64_t payload);

static inline const uint8_t *key_chunk_key(const key_chunk *chunk,
                                           const key_item *item)
{
    return chunk->data + item->offset;
}

#endif
