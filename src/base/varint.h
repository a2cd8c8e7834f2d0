/* SPDX-License-Identifier: MIT */
/* Numbers in groups of seven bits, the lowest first; all but the last group of
 * a number have the top bit of their byte set. */
#ifndef KSV_BASE_VARINT_H
#define KSV_BASE_VARINT_H

#include "base/coding.h"

/* The longest that a number of 64 bits, or of 32, gets. */
#define VARINT_MOST_BYTES 10
#define VARINT_MOST_BYTES_U32 5

/* Writes `value`; returns where the next byte goes. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *p++ = (uint8_t)(value | 128);
    *p++ = (uint8_t)value;
    return p;
}

/* Bytes from the second on: most numbers have one. */
static inline uint64_t cursor_varint_rest(byte_cursor *c, uint64_t value)
{
    for (unsigned shift = 7; shift < 64 && c->next < c->end; shift += 7) {
        uint8_t byte = *c->next++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    c->failed = true;
    return 0;
}

/* Reads a number as the other functions of byte_cursor do. */
static inline uint64_t cursor_varint(byte_cursor *c)
{
    if (c->failed || c->next == c->end) {
        c->failed = true;
        return 0;
    }
    uint8_t byte = *c->next++;
    return byte < 128 ? byte : cursor_varint_rest(c, byte & 127u);
}

#endif
