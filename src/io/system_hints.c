/* SPDX-License-Identifier: MIT */
/* What the operating system knows of the machine, and is told of memory. */
#include "io/system_hints.h"

#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Below this, large pages would hold more than is used. */
#define LARGE_BYTES ((size_t)4 << 20)

unsigned processor_count(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

void memory_prefer_large_pages(void *memory, size_t size_bytes)
{
#ifdef MADV_HUGEPAGE
    if (size_bytes < LARGE_BYTES)
        return;
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0)
        return;
    uintptr_t mask = (uintptr_t)page - 1;
    uintptr_t start = ((uintptr_t)memory + mask) & ~mask;
    uintptr_t end = ((uintptr_t)memory + size_bytes) & ~mask;
    /* A refusal changes nothing but speed. */
    (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)size_bytes;
#endif
}
