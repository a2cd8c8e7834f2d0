/* SPDX-License-Identifier: MIT */
/* Single bits of 64-bit masks. */
#ifndef KSV_SCAN_BITS_H
#define KSV_SCAN_BITS_H

#include <stdint.h>

/* The number of the lowest bit that is set; `bits` is not 0. */
static inline unsigned bits_lowest(uint64_t bits)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(bits);
#else
    unsigned number = 0;
    for (; (bits & 1) == 0; bits >>= 1)
        number++;
    return number;
#endif
}

/* How many bits are set. */
static inline unsigned bits_count(uint64_t bits)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_popcountll(bits);
#else
    unsigned count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
#endif
}

#endif
