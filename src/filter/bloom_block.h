/* SPDX-License-Identifier: MIT */
/* Which block and which bits of it belong to a hash: part of the format. */
#ifndef KSV_FILTER_BLOOM_BLOCK_H
#define KSV_FILTER_BLOOM_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define BLOOM_BLOCK_BYTES 64
#define BLOOM_BLOCK_BITS 512
#define BLOOM_MAX_FUNCTIONS 16

/* Powers of an odd number near 2^32 divided by the golden ratio. Probes with
 * even numbers multiply the low half of the mixed hash, those with odd numbers
 * its high half: eight probes are one vector of eight 32-bit products. */
static const uint32_t BLOOM_MULTIPLIER[BLOOM_MAX_FUNCTIONS] = {
    0x9e3779b9u, 0x9e3779b9u, 0xe35e67b1u, 0xe35e67b1u,
    0x734297e9u, 0x734297e9u, 0x35fbe861u, 0x35fbe861u,
    0xdeb7c719u, 0xdeb7c719u, 0x0448b211u, 0x0448b211u,
    0x3459b749u, 0x3459b749u, 0xab25f4c1u, 0xab25f4c1u};

/* The high 64 bits of `a` * `b`. */
static inline uint64_t bloom_multiply_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    return (uint64_t)((unsigned __int128)a * b >> 64);
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
#endif
}

/* The block of a truncated hash: never falls while the hash rises. */
static inline uint64_t bloom_block_number(uint64_t hash, uint64_t blocks)
{
    return bloom_multiply_high(hash, blocks);
}

/* All bits of a truncated hash spread over 64: a hash chooses its block by its
 * high bits alone, and hashes in one block share those. The steps are those of
 * the finaliser of MurmurHash3. */
static inline uint64_t bloom_mix(uint64_t hash)
{
    uint64_t z = hash;
    z ^= z >> 33;
    z *= UINT64_C(0xff51afd7ed558ccd);
    z ^= z >> 33;
    z *= UINT64_C(0xc4ceb9fe1a85ec53);
    z ^= z >> 33;
    return z;
}

/* The bit, 0..511, of probe `i`; bit b of a block is bit b % 8 of byte b / 8.
 */
static inline unsigned bloom_probe_bit(uint64_t mixed, unsigned i)
{
    uint32_t half = (uint32_t)((i & 1) != 0 ? mixed >> 32 : mixed);
    return (uint32_t)(half * BLOOM_MULTIPLIER[i]) >> 23;
}

/* Whether any of the bits was clear before. */
static inline bool bloom_block_add(uint8_t *block, uint64_t hash,
                                   unsigned functions)
{
    uint64_t mixed = bloom_mix(hash);
    unsigned clear = 0;
    for (unsigned i = 0; i < functions; i++) {
        unsigned bit = bloom_probe_bit(mixed, i);
        unsigned mask = 1u << (bit & 7);
        clear |= ~(unsigned)block[bit >> 3] & mask;
        block[bit >> 3] |= (uint8_t)mask;
    }
    return clear != 0;
}

static inline bool bloom_block_may_contain(const uint8_t *block, uint64_t hash,
                                           unsigned functions)
{
    uint64_t mixed = bloom_mix(hash);
    for (unsigned i = 0; i < functions; i++) {
        unsigned bit = bloom_probe_bit(mixed, i);
        if ((block[bit >> 3] >> (bit & 7) & 1) == 0)
            return false;
    }
    return true;
}

#endif
