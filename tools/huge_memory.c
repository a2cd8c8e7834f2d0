/* SPDX-License-Identifier: MIT */
/* An allocator that asks for large pages. */
#include "huge_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES ((size_t)2 << 20)

static void *allocate(void *ctx, size_t size_bytes)
{
    (void)ctx;
    void *memory = NULL;
    if (size_bytes < 2 * PAGE_BYTES || size_bytes > SIZE_MAX - PAGE_BYTES)
        return malloc(size_bytes);
    size_t whole = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    if (posix_memalign(&memory, PAGE_BYTES, whole) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    /* A wish: small pages do as well. */
    if (madvise(memory, whole, MADV_HUGEPAGE) != 0)
        return memory;
#endif
    return memory;
}

static void *reallocate(void *ctx, void *memory, size_t old_bytes,
                        size_t new_bytes)
{
    (void)ctx;
    (void)old_bytes;
    return realloc(memory, new_bytes);
}

static void release(void *ctx, void *memory, size_t size_bytes)
{
    (void)ctx;
    (void)size_bytes;
    free(memory);
}

static const ksv_allocator HUGE_MEMORY = {
    .alloc = allocate, .realloc = reallocate, .free = release};

const ksv_allocator *huge_memory_allocator(void)
{
    return &HUGE_MEMORY;
}

uint64_t huge_memory_machine_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0)
        return UINT64_MAX;
    return (uint64_t)pages * (uint64_t)page_bytes;
}
