/* SPDX-License-Identifier: MIT */
/* An allocator that asks for large pages: random access to large memory is
 * several times faster with them. */
#ifndef KSV_TOOLS_HUGE_MEMORY_H
#define KSV_TOOLS_HUGE_MEMORY_H

#include <keysieve/memory.h>

const ksv_allocator *huge_memory_allocator(void);

#endif
