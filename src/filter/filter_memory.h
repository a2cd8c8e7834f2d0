/* SPDX-License-Identifier: MIT */
/* The blocks of a filter in memory, one a cache line. */
#ifndef KSV_FILTER_FILTER_MEMORY_H
#define KSV_FILTER_FILTER_MEMORY_H

#include "base/memory.h"

/* All zero is one without memory. */
typedef struct filter_memory {
    uint8_t *data; /* aligned to a block */
    size_t size_bytes;
    void *memory;
} filter_memory;

/* `size_bytes` bytes of any content, which are not touched. */
ksv_status filter_memory_init(filter_memory *blocks, const ksv_allocator *a,
                              uint64_t size_bytes, ksv_error *error);
void filter_memory_clear(filter_memory *blocks);
/* `a` as it was given at first. */
void filter_memory_release(filter_memory *blocks, const ksv_allocator *a);

#endif
