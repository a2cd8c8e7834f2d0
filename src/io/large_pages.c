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
