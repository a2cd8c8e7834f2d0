/* SPDX-License-Identifier: MIT */
/* The copy of earlier output that a length and a distance stand for. */
#ifndef KSV_COMPRESS_INFLATE_COPY_H
#define KSV_COMPRESS_INFLATE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INFLATE_COPY_SLACK 16

static inline void copy_8(uint8_t *to, const uint8_t *from)
{
    uint64_t v;
    memcpy(&v, from, 8);
    memcpy(to, &v, 8);
}

static inline void copy_16(uint8_t *to, const uint8_t *from)
{
    uint8_t v[16];
    memcpy(v, from, 16);
    memcpy(to, v, 16);
}

/* A copy whose source overlaps what it writes: a pattern of `distance` bytes
 * (1 to 15) goes on. */
static inline void copy_pattern(uint8_t *out, size_t distance,
                                const uint8_t *end)
{
    if (distance == 1) {
        memset(out, out[-1], (size_t)(end - out));
        return;
    }
    if (distance < 8) {
        for (int i = 0; i < 8; i++)
            out[i] = *(out + i - distance);
        out += 8;
        distance *= (7 + distance) / distance;
    }
    for (; out < end; out += 8)
        copy_8(out, out - distance);
}

/* Writes `length` bytes at `out`, each that which stands `distance` before it,
 * and up to INFLATE_COPY_SLACK bytes more. Returns the end of what counts. */
static inline uint8_t *inflate_copy(uint8_t *out, size_t distance,
                                    size_t length)
{
    uint8_t *end = out + length;
    if (distance < 16) {
        copy_pattern(out, distance, end);
        return end;
    }
    const uint8_t *from = out - distance;
    do {
        copy_16(out, from);
        out += 16;
        from += 16;
    } while (out < end);
    return end;
}

#endif
