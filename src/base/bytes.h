/* SPDX-License-Identifier: MIT */
/* The order of strings of bytes, and what they have in common. */
#ifndef KSV_BASE_BYTES_H
#define KSV_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How many bytes two strings have in common at their beginnings, of which the
 * first `from` are known to be equal; at most `most`, which both have. */
static inline size_t bytes_common(const uint8_t *a, const uint8_t *b,
                                  size_t from, size_t most)
{
    size_t n = from;
    while (n + 8 <= most && memcmp(a + n, b + n, 8) == 0)
        n += 8;
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* Below, at or above 0 as `a` comes before, is or comes after `b`; a beginning
 * comes before the whole. The first `from` bytes, which both have, are known to
 * be equal. */
static inline int bytes_compare(const uint8_t *a, size_t a_bytes,
                                const uint8_t *b, size_t b_bytes, size_t from)
{
    size_t both = a_bytes < b_bytes ? a_bytes : b_bytes;
    int order = both > from ? memcmp(a + from, b + from, both - from) : 0;
    if (order != 0)
        return order;
    return (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

#endif
