/* SPDX-License-Identifier: MIT */
/* Bytes of keys as numbers that are in their order. */
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

#endif
