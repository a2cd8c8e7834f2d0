/* SPDX-License-Identifier: MIT */
/* An allocator that fails when it is told to and counts what is not freed. */
#include "support/fault_allocator.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before each block stands its size; as wide as any type needs. */
typedef union block_head {
    size_t size_bytes;
    max_align_t alignment;
} block_head;

static bool call_fails(fault_allocator *fault)
{
    size_t call = ++fault->calls;
    if (fault->fail_at == 0)
        return false;
    return call == fault->fail_at ||
           (fault->fail_after && call > fault->fail_at);
}

static void *take(fault_allocator *fault, size_t size_bytes)
{
    if (size_bytes > SIZE_MAX - sizeof(block_head))
        return NULL;
    block_head *head = malloc(sizeof *head + size_bytes);
    if (head == NULL)
        return NULL;
    head->size_bytes = size_bytes;
    /* Nothing may depend on fresh memory being zero. */
    memset(head + 1, 0xa5, size_bytes);
    fault->live_blocks++;
    fault->live_bytes += size_bytes;
    if (fault->live_bytes > fault->peak_bytes)
        fault->peak_bytes = fault->live_bytes;
    return head + 1;
}

static void give_back(fault_allocator *fault, void *memory, size_t size_bytes)
{
    block_head *head = (block_head *)memory - 1;
    if (head->size_bytes != size_bytes)
        fault->wrong_sizes++;
    fault->live_blocks--;
    fault->live_bytes -= head->size_bytes;
    memset(memory, 0x5a, head->size_bytes);
    free(head);
}

static void *fault_alloc(void *ctx, size_t size_bytes)
{
    fault_allocator *fault = ctx;
    pthread_mutex_lock(&fault->mutex);
    void *memory = call_fails(fault) ? NULL : take(fault, size_bytes);
    pthread_mutex_unlock(&fault->mutex);
    return memory;
}

/* Moves every time. */
static void *fault_realloc(void *ctx, void *memory, size_t old_bytes,
                           size_t new_bytes)
{
    fault_allocator *fault = ctx;
    pthread_mutex_lock(&fault->mutex);
    void *moved = call_fails(fault) ? NULL : take(fault, new_bytes);
    if (moved != NULL) {
        size_t real_bytes = ((block_head *)memory - 1)->size_bytes;
        memcpy(moved, memory, real_bytes < new_bytes ? real_bytes : new_bytes);
        give_back(fault, memory, old_bytes);
    }
    pthread_mutex_unlock(&fault->mutex);
    return moved;
}

static void fault_free(void *ctx, void *memory, size_t size_bytes)
{
    fault_allocator *fault = ctx;
    pthread_mutex_lock(&fault->mutex);
    give_back(fault, memory, size_bytes);
    pthread_mutex_unlock(&fault->mutex);
}

void fault_allocator_init(fault_allocator *fault, size_t fail_at)
{
    *fault = (fault_allocator){
        .allocator = {fault, fault_alloc, fault_realloc, fault_free},
        .fail_at = fail_at,
    };
    pthread_mutex_init(&fault->mutex, NULL);
}

bool fault_allocator_is_clean(const fault_allocator *fault)
{
    return fault->live_blocks == 0 && fault->live_bytes == 0 &&
           fault->wrong_sizes == 0;
}
