/* SPDX-License-Identifier: MIT */
/* Fields of any width packed into bytes, lowest bit first, a word at a time. */
#ifndef KSV_TABLE_BIT_PACKING_H
#define KSV_TABLE_BIT_PACKING_H

#include <stdint.h>

#include "base/bits.h"
#include "base/coding.h"

/* How far behind the last bit of a field a read may reach. */
#define BITS_READ_PADDING_BYTES 16

/* A word with its lowest `width` (0..63) bits set. */
static inline uint64_t bits_mask(unsigned width)
{
    return (UINT64_C(1) << width) - 1;
}

/* The `width` (0..57) bits at bit `position`. */
static inline uint64_t bits_read(const uint8_t *data, size_t position,
                                 unsigned width)
{
    return load_u64(data + position / 8) >> (position % 8) & bits_mask(width);
}

/* As bits_read(), for a width of 0..63. */
static inline uint64_t bits_read_wide(const uint8_t *data, size_t position,
                                      unsigned width)
{
    if (width <= 57)
        return bits_read(data, position, width);
    uint64_t low = bits_read(data, position, 32);
    return low | bits_read(data, position + 32, width - 32) << 32;
}

/* The number of bits that `value` needs; 0 for 0. */
static inline unsigned bits_length(uint64_t value)
{
#if defined(__GNUC__)
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
#else
    unsigned length = 0;
    for (; value != 0; value >>= 1)
        length++;
    return length;
#endif
}

/* The position of the bit set that has `rank` set bits below it; there is one.
 * Halves the word six times: no table, no branch that depends on the data. */
static inline unsigned bits_select(uint64_t word, unsigned rank)
{
    unsigned position = 0;
    for (unsigned half = 32; half > 0; half /= 2) {
        unsigned below = bits_count(word >> position & bits_mask(half));
        unsigned skip = rank >= below ? 1 : 0;
        position += skip * half;
        rank -= skip * below;
    }
    return position;
}

/* Appends fields one after the other. Whole words are stored at any byte, so
 * there is room for 8 bytes behind the last field. */
typedef struct bit_writer {
    uint8_t *next;
    uint64_t word;
    unsigned used; /* bits of `word`, below 8 */
} bit_writer;

#define BITS_SHORT_MAX 56u

/* `value` has no bits beyond `width`, which is up to BITS_SHORT_MAX. Without a
 * branch. */
static inline void bit_writer_put_short(bit_writer *w, uint64_t value,
                                        unsigned width)
{
    w->word |= value << w->used;
    store_u64(w->next, w->word);
    w->used += width;
    w->next += w->used / 8;
    w->word >>= w->used & ~7u;
    w->used %= 8;
}

/* The low `width` (0..63) bits of `value`. */
static inline void bit_writer_put(bit_writer *w, uint64_t value, unsigned width)
{
    unsigned most = width < BITS_SHORT_MAX ? width : BITS_SHORT_MAX;
    bit_writer_put_short(w, value & bits_mask(most), most);
    if (width > most)
        bit_writer_put_short(w, value >> most & bits_mask(width - most),
                             width - most);
}

#endif
