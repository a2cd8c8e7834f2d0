/* SPDX-License-Identifier: MIT */
/* Memory that is touched all over soon after it was allocated. */
#include "io/large_pages.h"

#include <stdint.h>
#include <sys/mman.h>

void large_pages_ask(void *memory, size_t size_bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t start = (uintptr_t)memory;
    uintptr_t end = start + size_bytes;
    start = (start + LARGE_PAGE_BYTES - 1) & ~(uintptr_t)(LARGE_PAGE_BYTES - 1);
    end &= ~(uintptr_t)(LARGE_PAGE_BYTES - 1);
    if (memory != NULL && start < end)
        (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)size_bytes;
#endif
}

static size_t round_up(size_t value)
{
    return (value + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1);
}

size_t large_pages_bytes(size_t size_bytes)
{
    if (size_bytes < LARGE_PAGE_BYTES / 2 ||
        size_bytes > SIZE_MAX - 2 * LARGE_PAGE_BYTES)
        return size_bytes;
    return round_up(size_bytes) + LARGE_PAGE_BYTES;
}

size_t large_pages_place(void *memory, size_t allocated_bytes)
{
    if (allocated_bytes < 2 * LARGE_PAGE_BYTES)
        return 0;
    large_pages_ask(memory, allocated_bytes);
    return round_up((size_t)(uintptr_t)memory) - (size_t)(uintptr_t)memory;
}
