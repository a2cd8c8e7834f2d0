/* SPDX-License-Identifier: MIT */
/* An allocator that counts, checks the sizes given back, and can fail. */
#include "support/test_allocator.h"

#include <stdlib.h>
#include <string.h>

/* Before each piece of memory, its size. */
#define PREFIX_BYTES 16

static void count(test_allocator *a, size_t size_bytes)
{
    a->live_bytes += size_bytes;
    if (a->live_bytes > a->peak_bytes)
        a->peak_bytes = a->live_bytes;
}

static void *test_alloc(void *ctx, size_t size_bytes)
{
    test_allocator *a = ctx;
    if (a->allocations++ == a->failing)
        return NULL;
    uint8_t *memory = malloc(PREFIX_BYTES + size_bytes);
    if (memory == NULL)
        return NULL;
    memcpy(memory, &size_bytes, sizeof size_bytes);
    memset(memory + PREFIX_BYTES, 0xa5, size_bytes);
    count(a, size_bytes);
    return memory + PREFIX_BYTES;
}

static void test_free(void *ctx, void *memory, size_t size_bytes)
{
    test_allocator *a = ctx;
    uint8_t *start = (uint8_t *)memory - PREFIX_BYTES;
    size_t actual;
    memcpy(&actual, start, sizeof actual);
    if (actual != size_bytes)
        a->wrong_size = true;
    a->live_bytes -= actual;
    free(start);
}

static void *test_realloc(void *ctx, void *memory, size_t old_bytes,
                          size_t new_bytes)
{
    void *moved = test_alloc(ctx, new_bytes);
    if (moved == NULL)
        return NULL;
    memcpy(moved, memory, old_bytes < new_bytes ? old_bytes : new_bytes);
    test_free(ctx, memory, old_bytes);
    return moved;
}

void test_allocator_init(test_allocator *a)
{
    *a = (test_allocator){.allocator = {a, test_alloc, test_realloc, test_free},
                          .failing = TEST_ALLOCATOR_NEVER};
}
