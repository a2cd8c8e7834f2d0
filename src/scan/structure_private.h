/* SPDX-License-Identifier: MIT */
/* What the versions of the structural masks have in common. */
#ifndef KSV_SCAN_STRUCTURE_PRIVATE_H
#define KSV_SCAN_STRUCTURE_PRIVATE_H

#include <string.h>

#include "base/bits.h"
#include "base/cpu_features.h"
#include "scan/structure.h"

extern const structure_kernels structure_portable;
#ifdef KSV_HAVE_AVX2
extern const structure_kernels structure_avx2;
#endif
#ifdef KSV_HAVE_AVX512
extern const structure_kernels structure_avx512;
#endif
#ifdef KSV_HAVE_NEON
extern const structure_kernels structure_neon;
#endif

/* Inlined into functions for a kind of processor, it is compiled for that. */
#if defined(__GNUC__)
#define STRUCTURE_INLINE static inline __attribute__((always_inline))
#else
#define STRUCTURE_INLINE static inline
#endif

/* The last block of a content, filled up with zeros, and the bits that count.
 */
typedef struct structure_tail {
    uint8_t bytes[STRUCTURE_BLOCK_BYTES];
    uint64_t valid;
} structure_tail;

STRUCTURE_INLINE void structure_tail_fill(structure_tail *tail,
                                          const uint8_t *data,
                                          size_t size_bytes)
{
    memset(tail->bytes, 0, sizeof tail->bytes);
    memcpy(tail->bytes, data, size_bytes);
    tail->valid = (UINT64_C(1) << size_bytes) - 1;
}

/* Bit i is the parity of bits 0 to i. */
STRUCTURE_INLINE uint64_t structure_parity(uint64_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    return bits ^ bits << 32;
}

/* What of a block with quotes in it or around it lies within quotes. As long as
 * every quote that opens by parity stands where one may, parity tells inside
 * from outside; the first that does not is data, and parity is right up to the
 * next one without it. */
STRUCTURE_INLINE uint64_t structure_inside(uint64_t separators, uint64_t quotes,
                                           uint64_t doubling,
                                           uint64_t (*parity)(uint64_t),
                                           structure_quotes *state)
{
    uint64_t inside;
    uint64_t openers;
    for (;;) {
        inside = parity(quotes) ^ state->inside;
        openers = separators | (quotes & doubling);
        uint64_t data_quotes =
            quotes & inside & ~(openers << 1 | state->may_open);
        if (data_quotes == 0)
            break;
        quotes &= ~(data_quotes & (0 - data_quotes));
    }
    state->inside = 0 - (inside >> 63);
    state->may_open = (openers & ~inside) >> 63;
    return inside;
}

STRUCTURE_INLINE void structure_unquote(const structure_fields *fields,
                                        size_t blocks,
                                        uint64_t (*parity)(uint64_t),
                                        structure_quotes *state)
{
    for (size_t b = 0; b < blocks; b++) {
        uint64_t separators = fields->ends[b] | fields->delimiters[b];
        if ((fields->quotes[b] | state->inside) == 0) {
            state->may_open = separators >> 63;
            continue;
        }
        uint64_t inside = structure_inside(separators, fields->quotes[b],
                                           fields->doubling, parity, state);
        fields->ends[b] &= ~inside;
        fields->delimiters[b] &= ~inside;
    }
}

/* Two at once without asking, not even whether there are any: sparse bits are
 * in every other block, and nobody can guess in which. Then four at a time.
 * `lowest` is bits_lowest(), of 0 any number. */
STRUCTURE_INLINE size_t structure_list(const uint64_t *mask, size_t blocks,
                                       unsigned (*lowest)(uint64_t),
                                       uint16_t *positions)
{
    size_t count = 0;
    for (size_t b = 0; b < blocks; b++) {
        uint64_t bits = mask[b];
        size_t base = b * STRUCTURE_BLOCK_BYTES;
        size_t after = count + bits_count(bits);
        positions[count] = (uint16_t)(base + lowest(bits));
        bits &= bits - 1;
        positions[count + 1] = (uint16_t)(base + lowest(bits));
        bits &= bits - 1;
        if (after <= count + 2) {
            count = after;
            continue;
        }
        count += 2;
        do {
            for (unsigned i = 0; i < STRUCTURE_LIST_SPARE; i++) {
                positions[count + i] = (uint16_t)(base + lowest(bits));
                bits &= bits - 1;
            }
            count += STRUCTURE_LIST_SPARE;
        } while (count < after);
        count = after;
    }
    return count;
}

#endif
