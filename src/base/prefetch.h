/* SPDX-License-Identifier: MIT */
/* Asking for memory that will be needed soon. */
#ifndef KSV_BASE_PREFETCH_H
#define KSV_BASE_PREFETCH_H

/* Any address will do; nothing is read or written. */
#if defined(__GNUC__)
#define MEMORY_PREFETCH(address) __builtin_prefetch(address)
#define MEMORY_PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#else
#define MEMORY_PREFETCH(address) ((void)(address))
#define MEMORY_PREFETCH_TO_WRITE(address) ((void)(address))
#endif

#endif
