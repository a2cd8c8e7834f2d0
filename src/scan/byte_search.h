/* SPDX-License-Identifier: MIT */
/* Searching bytes eight at a time, without special instructions. */
#ifndef KSV_SCAN_BYTE_SEARCH_H
#define KSV_SCAN_BYTE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/coding.h"

#define BYTE_SEARCH_ONES UINT64_C(0x0101010101010101)
#define BYTE_SEARCH_TOPS UINT64_C(0x8080808080808080)

/* The top bit of each byte of `word` that equals `byte`. Bytes above the first
 * such one may be marked without being equal. */
static inline uint64_t byte_search_mark(uint64_t word, uint8_t byte)
{
    uint64_t differences = word ^ (BYTE_SEARCH_ONES * byte);
    return (differences - BYTE_SEARCH_ONES) & ~differences & BYTE_SEARCH_TOPS;
}

/* The number of the lowest byte that is marked; `marks` is not 0. */
static inline unsigned byte_search_first(uint64_t marks)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(marks) >> 3;
#else
    unsigned first = 0;
    for (; (marks & 0xff) == 0; marks >>= 8)
        first++;
    return first;
#endif
}

/* The top bit of each byte of `word` that is no ASCII digit. */
static inline uint64_t byte_search_mark_other(uint64_t word)
{
    uint64_t digits = word ^ (BYTE_SEARCH_ONES * '0');
    uint64_t low = digits & ~BYTE_SEARCH_TOPS;
    return ((low + BYTE_SEARCH_ONES * (0x80 - 10)) | digits) & BYTE_SEARCH_TOPS;
}

/* The first byte in [p, end) that is no ASCII digit, or `end`. */
static inline const uint8_t *byte_search_no_digit(const uint8_t *p,
                                                  const uint8_t *end)
{
    while (end - p >= 8) {
        uint64_t marks = byte_search_mark_other(load_u64(p));
        if (marks != 0)
            return p + byte_search_first(marks);
        p += 8;
    }
    while (p < end && (uint8_t)(*p - '0') <= 9)
        p++;
    return p;
}

/* The first of two bytes in [p, end), or `end`. */
static inline const uint8_t *
byte_search_either(const uint8_t *p, const uint8_t *end, uint8_t a, uint8_t b)
{
    while (end - p >= 8) {
        uint64_t word = load_u64(p);
        uint64_t marks = byte_search_mark(word, a) | byte_search_mark(word, b);
        if (marks != 0)
            return p + byte_search_first(marks);
        p += 8;
    }
    while (p < end && *p != a && *p != b)
        p++;
    return p;
}

#endif
