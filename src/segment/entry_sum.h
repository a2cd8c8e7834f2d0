/* SPDX-License-Identifier: MIT */
/* Tells sets of entries apart, whatever their order. */
#ifndef KSV_SEGMENT_ENTRY_SUM_H
#define KSV_SEGMENT_ENTRY_SUM_H

#include <stdbool.h>
#include <stdint.h>

/* The sums of two numbers made of each entry: two sets that differ have the
 * same sums with a chance of about 2^-128. All zero is the empty set. */
typedef struct entry_sum {
    uint64_t count;
    uint64_t low;
    uint64_t high;
} entry_sum;

static inline uint64_t entry_sum_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Adds the entry of a truncated hash and an offset in a data file. */
static inline void entry_sum_add(entry_sum *sum, uint64_t hash, uint64_t offset)
{
    uint64_t mixed = entry_sum_mix(offset + 0x9e3779b97f4a7c15u);
    sum->count++;
    sum->low += entry_sum_mix(hash ^ mixed);
    sum->high += entry_sum_mix(hash + 2 * mixed + 1);
}

static inline void entry_sum_join(entry_sum *sum, const entry_sum *more)
{
    sum->count += more->count;
    sum->low += more->low;
    sum->high += more->high;
}

static inline bool entry_sum_equal(const entry_sum *a, const entry_sum *b)
{
    return a->count == b->count && a->low == b->low && a->high == b->high;
}

#endif
