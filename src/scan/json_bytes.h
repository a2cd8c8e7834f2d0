/* SPDX-License-Identifier: MIT */
/* Where strings and numbers end: searches of eight bytes at a time. */
#ifndef KSV_SCAN_JSON_BYTES_H
#define KSV_SCAN_JSON_BYTES_H

#include <stdint.h>

#include "base/coding.h"

#if !defined(KSV_SCALAR) && defined(__SSE2__)
#include <emmintrin.h>
#endif

#define JSON_BYTE_ONES UINT64_C(0x0101010101010101)
#define JSON_BYTE_TOPS UINT64_C(0x8080808080808080)

/* The top bit of each byte of `word` that equals `byte`. Bytes above the first
 * such one may be marked without being equal. */
static inline uint64_t json_mark(uint64_t word, uint8_t byte)
{
    uint64_t differences = word ^ (JSON_BYTE_ONES * byte);
    return (differences - JSON_BYTE_ONES) & ~differences & JSON_BYTE_TOPS;
}

/* The number of the lowest byte that is marked; `marks` is not 0. */
static inline unsigned json_first_mark(uint64_t marks)
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
static inline uint64_t json_mark_other(uint64_t word)
{
    uint64_t digits = word ^ (JSON_BYTE_ONES * '0');
    uint64_t low = digits & ~JSON_BYTE_TOPS;
    return ((low + JSON_BYTE_ONES * (0x80 - 10)) | digits) & JSON_BYTE_TOPS;
}

/* The first byte in [p, end) that is no ASCII digit, or `end`. */
static inline const uint8_t *json_digits_end(const uint8_t *p,
                                             const uint8_t *end)
{
    while (end - p >= 8) {
        uint64_t marks = json_mark_other(load_u64(p));
        if (marks != 0)
            return p + json_first_mark(marks);
        p += 8;
    }
    while (p < end && (uint8_t)(*p - '0') <= 9)
        p++;
    return p;
}

/* The first quote or backslash in [p, end), or `end`. */
static inline const uint8_t *json_string_stop(const uint8_t *p,
                                              const uint8_t *end)
{
#if !defined(KSV_SCALAR) && defined(__SSE2__)
    const __m128i quotes = _mm_set1_epi8('"');
    const __m128i backslashes = _mm_set1_epi8('\\');
    while (end - p >= 16) {
        __m128i bytes = _mm_loadu_si128((const void *)p);
        int marks = _mm_movemask_epi8(_mm_or_si128(
            _mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, backslashes)));
        if (marks != 0)
            return p + __builtin_ctz((unsigned)marks);
        p += 16;
    }
#endif
    while (end - p >= 8) {
        uint64_t word = load_u64(p);
        uint64_t marks = json_mark(word, '"') | json_mark(word, '\\');
        if (marks != 0)
            return p + json_first_mark(marks);
        p += 8;
    }
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

#endif
