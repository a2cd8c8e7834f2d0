/* SPDX-License-Identifier: MIT */
/* Single bits of 64-bit masks. */
#ifndef KSV_BASE_BITS_H
#define KSV_BASE_BITS_H

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

/* The number of the highest bit that is set; `bits` is not 0. */
static inline unsigned bits_highest(uint64_t bits)
{
#if defined(__GNUC__)
    return 63 - (unsigned)__builtin_clzll(bits);
#else
    unsigned number = 0;
    while ((bits >>= 1) != 0)
        number++;
    return number;
#endif
}

/* How many bits are set. */
static inline unsigned bits_count(uint64_t bits)
{
#if defined(__GNUC__) && (defined(__POPCNT__) || defined(__aarch64__))
    return (unsigned)__builtin_popcountll(bits);
#else
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) +
           (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(bits * UINT64_C(0x0101010101010101) >> 56);
#endif
}

#endif
