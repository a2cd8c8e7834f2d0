/* SPDX-License-Identifier: MIT */
/* Numbers of 1 to 10 bytes: 7 bits a byte, the lowest first. */
#ifndef KSV_BTREE_TREE_VARINT_H
#define KSV_BTREE_TREE_VARINT_H

#include "base/coding.h"

#define VARINT_BYTES_MOST 10

static inline size_t varint_bytes(uint64_t v)
{
    size_t n = 1;
    while ((v >>= 7) != 0)
        n++;
    return n;
}

/* Writes up to VARINT_BYTES_MOST bytes; returns how many. The low bit of the
 * number is that of the first byte. */
static inline size_t varint_put(uint8_t *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

/* Fails, as the cursor does, at the end and for numbers of more than 64 bits.
 */
static inline uint64_t varint_get(byte_cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = cursor_u8(c);
        uint64_t bits = byte & 0x7f;
        if (shift == 63 && bits > 1)
            break;
        v |= bits << shift;
        if (byte < 0x80)
            return c->failed ? 0 : v;
    }
    c->failed = true;
    return 0;
}

#endif
