/* SPDX-License-Identifier: MIT */
/* Little-endian numbers in byte arrays, on any host; bounds-checked cursor. */
#ifndef KSV_BASE_CODING_H
#define KSV_BASE_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

static inline uint16_t load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline uint64_t load_u64(const uint8_t *p)
{
    return (uint64_t)load_u32(p) | (uint64_t)load_u32(p + 4) << 32;
}

static inline void store_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void store_u32(uint8_t *p, uint32_t v)
{
    store_u16(p, (uint16_t)v);
    store_u16(p + 2, (uint16_t)(v >> 16));
}

static inline void store_u64(uint8_t *p, uint64_t v)
{
    store_u32(p, (uint32_t)v);
    store_u32(p + 4, (uint32_t)(v >> 32));
}

/* Doubles are stored as the bits of IEEE 754 binary64. */
static inline double load_f64(const uint8_t *p)
{
    uint64_t bits = load_u64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void store_f64(uint8_t *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    store_u64(p, bits);
}

/* Reads from untrusted bytes: after a read past the end `failed` stays true and
 * all values are 0, so that it need be asked only once. */
typedef struct byte_cursor {
    const uint8_t *next;
    const uint8_t *end;
    bool failed;
} byte_cursor;

static inline byte_cursor cursor_over(const void *data, size_t size_bytes)
{
    const uint8_t *p = data;
    return (byte_cursor){p, p + size_bytes, false};
}

/* The next `size_bytes` bytes, or NULL when there are not as many. */
static inline const uint8_t *cursor_take(byte_cursor *c, size_t size_bytes)
{
    if (c->failed || size_bytes > (size_t)(c->end - c->next)) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *p = c->next;
    c->next += size_bytes;
    return p;
}

static inline uint8_t cursor_u8(byte_cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);
    return p != NULL ? p[0] : 0;
}

static inline uint16_t cursor_u16(byte_cursor *c)
{
    const uint8_t *p = cursor_take(c, 2);
    return p != NULL ? load_u16(p) : 0;
}

static inline uint32_t cursor_u32(byte_cursor *c)
{
    const uint8_t *p = cursor_take(c, 4);
    return p != NULL ? load_u32(p) : 0;
}

static inline uint64_t cursor_u64(byte_cursor *c)
{
    const uint8_t *p = cursor_take(c, 8);
    return p != NULL ? load_u64(p) : 0;
}

/* A string of bytes with a 32-bit length before it; NULL on failure. */
static inline const uint8_t *cursor_bytes(byte_cursor *c, size_t *size_bytes)
{
    *size_bytes = cursor_u32(c);
    const uint8_t *p = cursor_take(c, *size_bytes);
    if (p == NULL)
        *size_bytes = 0;
    return p;
}

/* Everything was read and nothing is left. */
static inline bool cursor_at_end(const byte_cursor *c)
{
    return !c->failed && c->next == c->end;
}

ksv_status buffer_put_u8(byte_buffer *buffer, uint8_t v, ksv_error *error);
ksv_status buffer_put_u16(byte_buffer *buffer, uint16_t v, ksv_error *error);
ksv_status buffer_put_u32(byte_buffer *buffer, uint32_t v, ksv_error *error);
ksv_status buffer_put_u64(byte_buffer *buffer, uint64_t v, ksv_error *error);
/* A 32-bit length, then the bytes. */
ksv_status buffer_put_bytes(byte_buffer *buffer, const void *data,
                            size_t size_bytes, ksv_error *error);

#endif
