/* SPDX-License-Identifier: MIT */
/* Which bits of a textbook filter belong to a hash: part of the format. */
#ifndef KSV_FILTER_BLOOM_CLASSIC_H
#define KSV_FILTER_BLOOM_CLASSIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prefetch.h"
#include "filter/bloom_block.h"

#define CLASSIC_MAX_FUNCTIONS 64

/* What makes the second hash another than the first, and steps uneven. */
#define CLASSIC_OTHER UINT64_C(0xd6e8feb86659fd93)
#define CLASSIC_STRIDE UINT64_C(0x9e3779b97f4a7c15)

/* The bits of a key, one after the other: enhanced double hashing (Dillinger
 * and Manolios, "Bloom Filters in Probabilistic Verification", 2004) modulo
 * 2^64, scaled to the number of bits. The step grows by multiples of an odd
 * constant with bits everywhere, because scaling keeps the high bits: two keys
 * share a progression only when they share both hashes. */
typedef struct classic_probes {
    uint64_t at;
    uint64_t step;
    uint64_t growth;
} classic_probes;

static inline classic_probes classic_begin(uint64_t truncated)
{
    classic_probes p = {bloom_mix(truncated),
                        bloom_mix(truncated ^ CLASSIC_OTHER), 0};
    return p;
}

static inline uint64_t classic_next(classic_probes *p, uint64_t bits)
{
    uint64_t bit = bloom_multiply_high(p->at, bits);
    p->at += p->step;
    p->growth += CLASSIC_STRIDE;
    p->step += p->growth;
    return bit;
}

/* Whether any of the bits was clear before. */
static inline bool classic_add(uint8_t *data, uint64_t bits, uint64_t truncated,
                               unsigned functions)
{
    classic_probes p = classic_begin(truncated);
    unsigned clear = 0;
    for (unsigned i = 0; i < functions; i++) {
        uint64_t bit = classic_next(&p, bits);
        unsigned mask = 1u << (bit & 7);
        clear |= ~(unsigned)data[bit >> 3] & mask;
        data[bit >> 3] |= (uint8_t)mask;
    }
    return clear != 0;
}

static inline bool classic_may_contain(const uint8_t *data, uint64_t bits,
                                       uint64_t truncated, unsigned functions)
{
    classic_probes p = classic_begin(truncated);
    for (unsigned i = 0; i < functions; i++) {
        uint64_t bit = classic_next(&p, bits);
        if ((data[bit >> 3] >> (bit & 7) & 1) == 0)
            return false;
    }
    return true;
}

/* Probes that are asked for ahead: most absent keys end within them. */
#define CLASSIC_AHEAD_FUNCTIONS 2

static inline unsigned classic_ahead(unsigned functions)
{
    return functions < CLASSIC_AHEAD_FUNCTIONS ? functions
                                               : CLASSIC_AHEAD_FUNCTIONS;
}

/* Asks for the first `functions` of the bits. No function: a compiler may drop
 * the call of one that does nothing else. */
#define CLASSIC_PREFETCH(data, bits, truncated, functions)                 \
    do {                                                                   \
        classic_probes probes_ = classic_begin(truncated);                 \
        for (unsigned i_ = 0; i_ < (functions); i_++)                      \
            MEMORY_PREFETCH((data) + (classic_next(&probes_, bits) >> 3)); \
    } while (0)

#endif
