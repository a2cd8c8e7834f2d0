/* SPDX-License-Identifier: MIT */
/* The order of keys, by their first bytes as a number where these tell. */
#ifndef KSV_SORT_KEY_ORDER_H
#define KSV_SORT_KEY_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KEY_HEAD_BYTES 8

static inline uint64_t key_load_head(const uint8_t *p)
{
    return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 |
           (uint64_t)p[3] << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
           (uint64_t)p[6] << 8 | (uint64_t)p[7];
}

/* The bytes of a key from `depth` (at most its length) on as a number that is
 * in their order; zeros stand for those that it does not have. */
static inline uint64_t key_head(const uint8_t *key, size_t key_bytes,
                                size_t depth)
{
    size_t rest = key_bytes - depth;
    if (rest >= KEY_HEAD_BYTES)
        return key_load_head(key + depth);
    uint8_t bytes[KEY_HEAD_BYTES] = {0};
    if (rest > 0)
        memcpy(bytes, key + depth, rest);
    return key_load_head(bytes);
}

/* The bytes that two keys have in common at their beginnings, of which the
 * first `from` are known to be equal; `most` at most, which both have. */
static inline size_t key_common(const uint8_t *a, const uint8_t *b, size_t from,
                                size_t most)
{
    size_t n = from;
    while (n + 8 <= most && memcmp(a + n, b + n, 8) == 0)
        n += 8;
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* Below, at or above 0 as `a` comes before, is or comes after `b`; the first
 * `from` bytes are known to be equal, and both have them. */
static inline int key_compare(const uint8_t *a, size_t a_bytes,
                              const uint8_t *b, size_t b_bytes, size_t from)
{
    size_t both = a_bytes < b_bytes ? a_bytes : b_bytes;
    int order = both > from ? memcmp(a + from, b + from, both - from) : 0;
    if (order != 0)
        return order;
    return (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

#endif
