/* SPDX-License-Identifier: MIT */
/* Random numbers that a seed repeats on any machine. */
#ifndef KSV_TESTS_SUPPORT_RANDOM_H
#define KSV_TESTS_SUPPORT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014). Begin with any seed: {seed}. */
typedef struct random_source {
    uint64_t state;
} random_source;

static inline uint64_t random_next(random_source *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* 0 to `limit` - 1; `limit` > 0. */
static inline uint64_t random_below(random_source *r, uint64_t limit)
{
    return random_next(r) % limit;
}

static inline void random_fill(random_source *r, void *out, size_t size_bytes)
{
    uint8_t *bytes = out;
    for (size_t i = 0; i < size_bytes; i++)
        bytes[i] = (uint8_t)(random_next(r) >> 56);
}

#endif
