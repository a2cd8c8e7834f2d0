/* SPDX-License-Identifier: MIT */
/* Asking for memory before it is needed. */
#ifndef KSV_BASE_PREFETCH_H
#define KSV_BASE_PREFETCH_H

/* Brings the cache line of an address near, whatever the address is. */
static inline void memory_prefetch(const void *address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address);
    /* To gcc this is no effect: a call of a function that does nothing else
     * would be left out. */
    __asm__ volatile("" : : "r"(address));
#else
    (void)address;
#endif
}

#endif
