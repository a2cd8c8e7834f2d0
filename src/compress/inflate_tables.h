/* SPDX-License-Identifier: MIT */
/* Decoding tables of DEFLATE's Huffman codes. */
#ifndef KSV_COMPRESS_INFLATE_TABLES_H
#define KSV_COMPRESS_INFLATE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compress/inflate.h"

/* An entry of 32 bits, found by the next bits of the input. Bits 0-5: how many
 * bits it takes. Of the literal table:
 *
 *   plain       bits 28-29: so many literals (0 to 2) come, the first in bits
 *               8-15, the second in bits 16-23; the first alone takes as many
 *               bits as bits 24-27 say. Unless ENTRY_LITERALS is set, a length
 *               of 3 and bits 16-23 follows (then there is one literal at most)
 *   exception   ENTRY_EXCEPTION and one of
 *     ENTRY_SUBTABLE  it begins at bits 8-23, bits 24-27 say how many bits
 *                     index it; after that see the entry there
 *     ENTRY_END       the end of the block
 *     ENTRY_RANGE     a length: the code takes bits 8-11, the extra bits the
 *                     rest; the smallest one is in bits 16-24
 *     none            an unused code
 *
 * Of the distance table: bits 8-11 as in a range, the smallest distance in bits
 * 16-30; or ENTRY_DISTANCE_EXCEPTION, with ENTRY_SUBTABLE as above, or for an
 * unused code.
 */
#define ENTRY_LITERALS 0x80000000u
#define ENTRY_EXCEPTION 0x40000000u
#define ENTRY_SUBTABLE 0x20000000u
#define ENTRY_END 0x10000000u
#define ENTRY_RANGE 0x08000000u
#define ENTRY_DISTANCE_EXCEPTION 0x80000000u
#define ENTRY_SMALLEST_LENGTH 3

static inline unsigned entry_bits(uint32_t entry)
{
    return entry & 63;
}

static inline unsigned entry_code_bits(uint32_t entry)
{
    return entry >> 8 & 15;
}

static inline unsigned entry_literal_count(uint32_t entry)
{
    return entry >> 28 & 3;
}

static inline unsigned entry_first_literal_bits(uint32_t entry)
{
    return entry >> 24 & 15;
}

static inline unsigned entry_plain_length(uint32_t entry)
{
    return ENTRY_SMALLEST_LENGTH + (entry >> 16 & 0xff);
}

static inline unsigned entry_range_length(uint32_t entry)
{
    return entry >> 16 & 0x1ff;
}

static inline unsigned entry_subtable_start(uint32_t entry)
{
    return entry >> 8 & 0xffff;
}

static inline unsigned entry_subtable_bits(uint32_t entry)
{
    return entry >> 24 & 15;
}

#define LITERAL_SYMBOLS 288
#define DISTANCE_SYMBOLS 32
#define CODE_LENGTH_SYMBOLS 19
#define CODE_LENGTH_BITS 7

/* The table of the code lengths' code: entries are symbol << 8 | bits. False:
 * the lengths are not those of a complete code. */
bool inflate_code_length_table(const uint8_t lengths[CODE_LENGTH_SYMBOLS],
                               uint32_t table[1 << CODE_LENGTH_BITS]);

/* Fill the tables of `s`; false: no code has these lengths. */
bool inflate_literal_table(inflater *s, const uint8_t *lengths, size_t count);
bool inflate_distance_table(inflater *s, const uint8_t *lengths, size_t count);

/* The tables of blocks with fixed codes. */
void inflate_fixed_tables(inflater *s);

#endif
