/* SPDX-License-Identifier: MIT */
/* Memory for very many small things that go together. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

#define ALIGNMENT 16
#define BLOCK_BYTES_LEAST ((size_t)1 << 10)

/* Blocks are in a list, that in use first. */
typedef struct arena_block {
    struct arena_block *next;
    size_t capacity_bytes; /* without this head */
    size_t used_bytes;
    size_t last_bytes; /* of the youngest allocation, at the end of them */
} arena_block;

#define HEAD_BYTES \
    ((sizeof(arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

struct arena {
    ksv_allocator allocator;
    arena_block *blocks;
    arena_block *first;
};

static uint8_t *block_data(arena_block *block)
{
    return (uint8_t *)block + HEAD_BYTES;
}

static bool add_block(arena *a, size_t bytes)
{
    if (bytes < BLOCK_BYTES_LEAST)
        bytes = BLOCK_BYTES_LEAST;
    if (bytes > SIZE_MAX - HEAD_BYTES)
        return false;
    arena_block *block = memory_alloc(&a->allocator, HEAD_BYTES + bytes);
    if (block == NULL)
        return false;
    *block = (arena_block){.next = a->blocks, .capacity_bytes = bytes};
    a->blocks = block;
    return true;
}

arena *arena_open(const ksv_allocator *allocator, size_t first_bytes)
{
    const ksv_allocator from = allocator_or_default(allocator);
    arena *a = memory_zalloc(&from, sizeof *a);
    if (a == NULL)
        return NULL;
    a->allocator = from;
    if (!add_block(a, first_bytes)) {
        memory_free(&from, a, sizeof *a);
        return NULL;
    }
    a->first = a->blocks;
    return a;
}

void arena_close(arena *a)
{
    if (a == NULL)
        return;
    const ksv_allocator from = a->allocator;
    while (a->blocks != NULL) {
        arena_block *block = a->blocks;
        a->blocks = block->next;
        memory_free(&from, block, HEAD_BYTES + block->capacity_bytes);
    }
    memory_free(&from, a, sizeof *a);
}

void *arena_first_block(const arena *a, size_t *size_bytes)
{
    *size_bytes = a->first->capacity_bytes;
    return block_data(a->first);
}

void arena_skip(arena *a, size_t bytes)
{
    a->first->used_bytes =
        bytes < a->first->capacity_bytes ? bytes : a->first->capacity_bytes;
}

/* `size_bytes` made a multiple of the alignment; 0 when it is too large. */
static size_t round_up(size_t size_bytes)
{
    return size_bytes > SIZE_MAX - ALIGNMENT
               ? 0
               : (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void *take(void *ctx, size_t size_bytes)
{
    arena *a = ctx;
    size_t bytes = round_up(size_bytes);
    arena_block *block = a->blocks;
    if (bytes == 0)
        return NULL;
    if (bytes > block->capacity_bytes - block->used_bytes) {
        size_t wanted = block->capacity_bytes / 2;
        if (!add_block(a, bytes > wanted ? bytes : wanted))
            return NULL;
        block = a->blocks;
    }
    void *memory = block_data(block) + block->used_bytes;
    block->used_bytes += bytes;
    block->last_bytes = bytes;
    return memory;
}

/* The youngest allocation can grow where it is. */
static bool extend(arena *a, const void *memory, size_t bytes)
{
    arena_block *block = a->blocks;
    size_t start = block->used_bytes - block->last_bytes;
    if (block->last_bytes == 0 || memory != block_data(block) + start ||
        bytes > block->capacity_bytes - start)
        return false;
    block->used_bytes = start + bytes;
    block->last_bytes = bytes;
    return true;
}

static void *resize(void *ctx, void *memory, size_t old_bytes, size_t new_bytes)
{
    arena *a = ctx;
    size_t bytes = round_up(new_bytes);
    if (bytes == 0)
        return NULL;
    if (bytes <= round_up(old_bytes) || extend(a, memory, bytes))
        return memory;
    void *moved = take(a, new_bytes);
    if (moved != NULL)
        memcpy(moved, memory, old_bytes);
    return moved;
}

static void give_back(void *ctx, void *memory, size_t size_bytes)
{
    (void)ctx;
    (void)memory;
    (void)size_bytes;
}

ksv_allocator arena_allocator(arena *a)
{
    return (ksv_allocator){a, take, resize, give_back};
}

ksv_allocator arena_source(const arena *a)
{
    return a->allocator;
}
