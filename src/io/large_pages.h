/* SPDX-License-Identifier: MIT */
/* Memory that is touched all over soon after it was allocated. */
#ifndef KSV_IO_LARGE_PAGES_H
#define KSV_IO_LARGE_PAGES_H

#include <stddef.h>

/* Less than that has no use for it. */
#define LARGE_PAGE_BYTES ((size_t)2 << 20)

/* Asks for large pages where whole ones fit into the `size_bytes` bytes at
 * `memory`: touching each small one for the first time is dear. Their content
 * stays; a system that has none ignores it. */
void large_pages_ask(void *memory, size_t size_bytes);

/* An allocator touches the memory before what it hands out, so that there the
 * pages are small already. For `size_bytes` in large pages alone this much is
 * to be allocated; the same when they are too few for one. */
size_t large_pages_bytes(size_t size_bytes);

/* Asks for large pages in memory of so many bytes, and returns at which of them
 * the first one begins. */
size_t large_pages_place(void *memory, size_t allocated_bytes);

#endif
