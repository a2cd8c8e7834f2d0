/* SPDX-License-Identifier: MIT */
/* The headers of DEFLATE's blocks (RFC 1951, 3.2.3 to 3.2.7). */
#include <string.h>

#include "compress/inflate.h"
#include "compress/inflate_bits.h"
#include "compress/inflate_tables.h"

/* Reads bits one field at a time, for headers; past the end come zeros. */
static void bits_need(inflater *s, unsigned count)
{
    while (s->bit_count < count) {
        const uint64_t byte = s->in_next < s->in_end ? *s->in_next : 0;
        if (s->in_next < s->in_end + INFLATE_LAST_OVERRUN)
            s->in_next++;
        s->bits |= byte << s->bit_count;
        s->bit_count += 8;
    }
}

static unsigned bits_take(inflater *s, unsigned count)
{
    bits_need(s, count);
    const unsigned value = (unsigned)(s->bits & (((uint64_t)1 << count) - 1));
    s->bits >>= count;
    s->bit_count -= count;
    return value;
}

/* Reads `wanted` code lengths, themselves coded. */
static const char *read_code_lengths(inflater *s, const uint32_t *table,
                                     uint8_t *lengths, unsigned wanted)
{
    unsigned have = 0;
    while (have < wanted) {
        bits_need(s, CODE_LENGTH_BITS);
        const uint32_t entry = table[s->bits & ((1 << CODE_LENGTH_BITS) - 1)];
        (void)bits_take(s, entry & 0xff);
        const unsigned symbol = entry >> 8;
        if (symbol < 16) {
            lengths[have++] = (uint8_t)symbol;
            continue;
        }
        uint8_t value = 0;
        unsigned repeat;
        if (symbol == 16) {
            if (have == 0)
                return "a code length is repeated before the first one";
            value = lengths[have - 1];
            repeat = 3 + bits_take(s, 2);
        } else if (symbol == 17) {
            repeat = 3 + bits_take(s, 3);
        } else {
            repeat = 11 + bits_take(s, 7);
        }
        if (repeat > wanted - have)
            return "there are too many code lengths";
        memset(lengths + have, value, repeat);
        have += repeat;
    }
    return NULL;
}

static const char *read_dynamic_header(inflater *s)
{
    static const uint8_t order[CODE_LENGTH_SYMBOLS] = {
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const unsigned literals = 257 + bits_take(s, 5);
    const unsigned distances = 1 + bits_take(s, 5);
    const unsigned code_lengths = 4 + bits_take(s, 4);
    if (literals > 286 || distances > 30)
        return "a block has too many codes";
    uint8_t lengths[LITERAL_SYMBOLS + DISTANCE_SYMBOLS] = {0};
    for (unsigned i = 0; i < code_lengths; i++)
        lengths[order[i]] = (uint8_t)bits_take(s, 3);
    uint32_t table[1 << CODE_LENGTH_BITS];
    if (!inflate_code_length_table(lengths, table))
        return "the code of the code lengths is not complete";
    const char *problem =
        read_code_lengths(s, table, lengths, literals + distances);
    if (problem != NULL)
        return problem;
    s->fixed_tables = false;
    if (lengths[256] == 0)
        return "a block has no code for its end";
    if (!inflate_literal_table(s, lengths, literals))
        return "the code of literals and lengths is not complete";
    if (!inflate_distance_table(s, lengths + literals, distances))
        return "the code of distances is not complete";
    return NULL;
}

static const char *read_stored_header(inflater *s)
{
    (void)bits_take(s, s->bit_count & 7);
    const unsigned length = bits_take(s, 16);
    const unsigned inverse = bits_take(s, 16);
    if (length != (inverse ^ 0xffff))
        return "the length of a stored block is damaged";
    s->stored_left = length;
    return NULL;
}

inflate_stop inflate_read_header(inflater *s)
{
    if (!s->in_last && s->in_end - s->in_next < INFLATE_INPUT_WANTED)
        return INFLATE_INPUT;
    const char *problem = NULL;
    s->final = bits_take(s, 1) != 0;
    s->place = INFLATE_IN_CODED;
    switch (bits_take(s, 2)) {
    case 0:
        s->place = INFLATE_IN_STORED;
        problem = read_stored_header(s);
        break;
    case 1:
        inflate_fixed_tables(s);
        break;
    case 2:
        problem = read_dynamic_header(s);
        break;
    default:
        problem = "a block is of an unknown type";
    }
    if (inflate_is_truncated(s))
        return INFLATE_TRUNCATED;
    if (problem != NULL)
        return inflate_corrupt(s, problem);
    inflate_settle(s);
    return INFLATE_LIMIT;
}
