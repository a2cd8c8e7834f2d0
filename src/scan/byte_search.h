/* SPDX-License-Identifier: MIT */
/* The first of two or three bytes, eight at a time, on any host. */
#ifndef KSV_SCAN_BYTE_SEARCH_H
#define KSV_SCAN_BYTE_SEARCH_H

#include <stdint.h>
#include <string.h>

/* Not 0 exactly when a byte of `word` is `pattern`'s, which repeats it. */
static inline uint64_t word_has_byte(uint64_t word, uint64_t pattern)
{
    uint64_t x = word ^ pattern;
    return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

static inline uint64_t word_of_byte(uint8_t byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

/* The first byte in [p, end) that is `a`, `b` or `c` (give one twice to look
 * for two), or `end`. */
static inline const uint8_t *find_byte_of_3(const uint8_t *p,
                                            const uint8_t *end, uint8_t a,
                                            uint8_t b, uint8_t c)
{
    uint64_t as = word_of_byte(a);
    uint64_t bs = word_of_byte(b);
    uint64_t cs = word_of_byte(c);
    while (end - p >= 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        if ((word_has_byte(word, as) | word_has_byte(word, bs) |
             word_has_byte(word, cs)) != 0)
            break;
        p += 8;
    }
    while (p < end && *p != a && *p != b && *p != c)
        p++;
    return p;
}

#endif
