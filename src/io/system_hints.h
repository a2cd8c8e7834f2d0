/* SPDX-License-Identifier: MIT */
/* What the operating system knows of the machine, and is told of memory. */
#ifndef KSV_IO_SYSTEM_HINTS_H
#define KSV_IO_SYSTEM_HINTS_H

#include <stddef.h>

/* The processors that this process may run on, at least 1. */
unsigned processor_count(void);

/* Says that all of this memory will be used: where the system can, it backs it
 * with large pages. Never fails; means nothing for small sizes. */
void memory_prefer_large_pages(void *memory, size_t size_bytes);

#endif
