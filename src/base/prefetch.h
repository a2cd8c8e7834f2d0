/* SPDX-License-Identifier: MIT */
/* Asking for memory that will be needed soon. */
#ifndef KSV_BASE_PREFETCH_H
#define KSV_BASE_PREFETCH_H

/* Any address will do; nothing is read or written. */
#if defined(__GNUC__)
/* To gcc a prefetch is no effect: the call of a function that does nothing else
 * would be left out, were it not for the statement behind it. */
#define PREFETCH_IS_AN_EFFECT(address) __asm__ volatile("" : : "r"(address))
#define MEMORY_PREFETCH(address) memory_prefetch(address)
#define MEMORY_PREFETCH_TO_WRITE(address) memory_prefetch_to_write(address)

static inline void memory_prefetch(const void *address)
{
    __builtin_prefetch(address);
    PREFETCH_IS_AN_EFFECT(address);
}

static inline void memory_prefetch_to_write(const void *address)
{
    __builtin_prefetch(address, 1);
    PREFETCH_IS_AN_EFFECT(address);
}
#else
#define MEMORY_PREFETCH(address) ((void)(address))
#define MEMORY_PREFETCH_TO_WRITE(address) ((void)(address))
#endif

#endif
