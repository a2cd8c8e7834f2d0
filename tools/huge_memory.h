/* SPDX-License-Identifier: MIT */
/* An allocator that asks for large pages: random access to large memory is
 * several times faster with them. */
#ifndef KSV_TOOLS_HUGE_MEMORY_H
#define KSV_TOOLS_HUGE_MEMORY_H

#include <stdint.h>

#include <keysieve/memory.h>

const ksv_allocator *huge_memory_allocator(void);

/* The memory that the machine has; UINT64_MAX when that cannot be told. */
uint64_t huge_memory_machine_bytes(void);

#endif
