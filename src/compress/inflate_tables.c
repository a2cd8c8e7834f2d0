/* SPDX-License-Identifier: MIT */
/* Decoding tables of DEFLATE's Huffman codes. */
#include "compress/inflate_tables.h"

#include <string.h>

#define MAX_CODE_BITS 15
#define END_SYMBOL 256
#define FIRST_LENGTH_SYMBOL 257
#define LENGTH_SYMBOLS 29
#define USED_DISTANCES 30

/* The smallest value and the extra bits of a length or distance symbol. */
typedef struct symbol_range {
    uint16_t base;
    uint8_t extra_bits;
} symbol_range;

static const symbol_range length_ranges[LENGTH_SYMBOLS] = {
    {3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},   {8, 0},
    {9, 0},   {10, 0},  {11, 1},  {13, 1},  {15, 1},  {17, 1},
    {19, 2},  {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},
    {51, 3},  {59, 3},  {67, 4},  {83, 4},  {99, 4},  {115, 4},
    {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0},
};

static const symbol_range distance_ranges[USED_DISTANCES] = {
    {1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
    {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
    {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
    {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
    {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13},
};

/* Symbols in the order of their codes. */
typedef struct code_order {
    uint16_t symbols[LITERAL_SYMBOLS];
    uint16_t counts[MAX_CODE_BITS + 1]; /* by length */
    unsigned max_bits;
    bool complete;
} code_order;

/* False: more codes than there is room for. */
static bool code_order_make(code_order *order, const uint8_t *lengths,
                            size_t count)
{
    uint16_t places[MAX_CODE_BITS + 2];
    memset(order->counts, 0, sizeof order->counts);
    for (size_t i = 0; i < count; i++)
        order->counts[lengths[i]]++;
    order->counts[0] = 0;
    int room = 1;
    places[1] = 0;
    order->max_bits = 0;
    for (unsigned n = 1; n <= MAX_CODE_BITS; n++) {
        room = 2 * room - order->counts[n];
        if (room < 0)
            return false;
        if (order->counts[n] != 0)
            order->max_bits = n;
        places[n + 1] = (uint16_t)(places[n] + order->counts[n]);
    }
    order->complete = room == 0;
    for (size_t i = 0; i < count; i++)
        if (lengths[i] != 0)
            order->symbols[places[lengths[i]]++] = (uint16_t)i;
    return true;
}

/* Codes come first bit lowest; canonical codes count with it highest. */
static unsigned reversed_code(unsigned code, unsigned bits)
{
    code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
    code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
    code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
    code = (code & 0x00ff) << 8 | (code >> 8 & 0x00ff);
    return code >> (16 - bits);
}

static uint32_t range_entry(symbol_range range, unsigned bits)
{
    return (uint32_t)range.base << 16 | bits << 8 | (bits + range.extra_bits);
}

static uint32_t literal_entry(unsigned symbol, unsigned bits)
{
    if (symbol < END_SYMBOL)
        return ENTRY_LITERALS | 1u << 28 | bits << 24 | symbol << 16 |
               symbol << 8 | bits;
    if (symbol == END_SYMBOL)
        return ENTRY_EXCEPTION | ENTRY_END | bits;
    symbol -= FIRST_LENGTH_SYMBOL;
    if (symbol >= LENGTH_SYMBOLS)
        return ENTRY_EXCEPTION;
    return ENTRY_EXCEPTION | ENTRY_RANGE |
           range_entry(length_ranges[symbol], bits);
}

static uint32_t distance_entry(unsigned symbol, unsigned bits)
{
    if (symbol >= USED_DISTANCES)
        return ENTRY_DISTANCE_EXCEPTION;
    return range_entry(distance_ranges[symbol], bits);
}

typedef struct table_shape {
    uint32_t *entries;
    size_t capacity;
    unsigned primary_bits;
    uint32_t exception;
    bool lengths; /* ranges become plain entries where they can */
    uint32_t (*entry)(unsigned symbol, unsigned bits);
} table_shape;

/* How many bits index the subtable that begins with a code of `bits` bits, when
 * `left` codes of each length are left: as few as hold all that share it. */
static unsigned subtable_bits(const uint16_t *left, unsigned bits,
                              unsigned primary_bits, unsigned max_bits)
{
    unsigned n = bits - primary_bits;
    int room = 1 << n;
    while (primary_bits + n < max_bits) {
        room -= left[primary_bits + n];
        if (room <= 0)
            break;
        n++;
        room *= 2;
    }
    return n;
}

/* Puts an entry wherever the index ends in `code`. */
static void fill_primary(const table_shape *t, size_t code, unsigned bits,
                         uint32_t entry)
{
    const size_t primary = (size_t)1 << t->primary_bits;
    for (size_t i = code; i < primary; i += (size_t)1 << bits)
        t->entries[i] = entry;
}

/* A range whose extra bits are among those of the index becomes the lengths
 * that they make. */
static void fill_lengths(const table_shape *t, size_t code, uint32_t range)
{
    const unsigned bits = entry_bits(range), code_bits = entry_code_bits(range);
    const uint32_t first = entry_range_length(range) - ENTRY_SMALLEST_LENGTH;
    for (uint32_t i = 0; i < 1u << (bits - code_bits); i++)
        fill_primary(t, code | (size_t)i << code_bits, bits,
                     (first + i) << 16 | bits);
}

static void fill_code(const table_shape *t, size_t code, unsigned bits,
                      uint32_t entry)
{
    if (t->lengths && (entry & ENTRY_RANGE) != 0 &&
        (entry & ENTRY_LITERALS) == 0 && entry_bits(entry) <= t->primary_bits)
        fill_lengths(t, code, entry);
    else
        fill_primary(t, code, bits, entry);
}

static bool table_fill(const table_shape *t, const code_order *order)
{
    const size_t primary = (size_t)1 << t->primary_bits;
    uint16_t left[MAX_CODE_BITS + 1];
    memcpy(left, order->counts, sizeof left);
    if (!order->complete)
        for (size_t i = 0; i < primary; i++)
            t->entries[i] = t->exception;
    size_t used = primary, sub_start = 0, sub_size = 0;
    size_t sub_low = primary; /* none yet */
    const uint16_t *symbol = order->symbols;
    unsigned code = 0;
    for (unsigned bits = 1; bits <= order->max_bits; bits++) {
        code <<= 1;
        for (; left[bits] != 0; left[bits]--, code++, symbol++) {
            const size_t at = reversed_code(code, bits);
            if (bits <= t->primary_bits) {
                fill_code(t, at, bits, t->entry(*symbol, bits));
                continue;
            }
            const unsigned sub_code_bits = bits - t->primary_bits;
            if ((at & (primary - 1)) != sub_low) {
                const unsigned n =
                    subtable_bits(left, bits, t->primary_bits, order->max_bits);
                sub_low = at & (primary - 1);
                sub_start = used;
                sub_size = (size_t)1 << n;
                used += sub_size;
                if (used > t->capacity)
                    return false;
                t->entries[sub_low] = t->exception | ENTRY_SUBTABLE | n << 24 |
                                      (uint32_t)sub_start << 8 |
                                      t->primary_bits;
            }
            const uint32_t entry = t->entry(*symbol, sub_code_bits);
            for (size_t i = at >> t->primary_bits; i < sub_size;
                 i += (size_t)1 << sub_code_bits)
                t->entries[sub_start + i] = entry;
        }
    }
    return true;
}

/* A literal and the symbol after it, if the `primary_bits` of an index hold
 * both. Without branches, so that several are made at once. */
static inline uint32_t joined(uint32_t first, unsigned first_bits,
                              uint32_t second, unsigned primary_bits)
{
    const uint32_t both = first_bits + entry_bits(second);
    const uint32_t more = second >> 31; /* it is a literal */
    const uint32_t entry =
        (first & 0x0f00ff00) | (second & 0x80ff0000) | (more + 1) << 28 | both;
    const bool holds = (second & ENTRY_EXCEPTION) == 0 && both <= primary_bits;
    return holds ? entry : first;
}

/* Joins a literal to each of the `singles`, which are what may follow it. */
static void join_literal(uint32_t *entries, const uint32_t *singles,
                         size_t code, unsigned bits, unsigned primary_bits)
{
    uint32_t made[1 << INFLATE_LITERAL_BITS];
    const size_t count = (size_t)1 << (primary_bits - bits);
    const uint32_t first = entries[code];
    for (size_t i = 0; i < count; i++)
        made[i] = joined(first, bits, singles[i], primary_bits);
    for (size_t i = 0; i < count; i++)
        entries[code | i << bits] = made[i];
}

/* Makes the entries of literals stand for as much as their indexes hold. */
static void join_literals(uint32_t *entries, unsigned primary_bits,
                          const code_order *order)
{
    uint32_t singles[1 << INFLATE_LITERAL_BITS];
    unsigned least = 1;
    while (order->counts[least] == 0)
        least++;
    memcpy(singles, entries, sizeof *entries << (primary_bits - least));
    const uint16_t *symbol = order->symbols;
    unsigned code = 0;
    for (unsigned bits = 1; bits + least <= primary_bits; bits++) {
        code <<= 1;
        for (unsigned n = order->counts[bits]; n != 0; n--, code++, symbol++)
            if (*symbol < END_SYMBOL)
                join_literal(entries, singles, reversed_code(code, bits), bits,
                             primary_bits);
    }
}

bool inflate_literal_table(inflater *s, const uint8_t *lengths, size_t count)
{
    code_order order;
    if (!code_order_make(&order, lengths, count))
        return false;
    /* One code of one bit may stand alone. */
    if (order.max_bits == 0 || (!order.complete && order.max_bits > 1))
        return false;
    s->literal_bits = order.max_bits < INFLATE_LITERAL_BITS
                          ? order.max_bits
                          : INFLATE_LITERAL_BITS;
    const table_shape shape = {s->literals,
                               INFLATE_LITERAL_ENTRIES,
                               s->literal_bits,
                               ENTRY_EXCEPTION,
                               true,
                               literal_entry};
    if (!table_fill(&shape, &order))
        return false;
    join_literals(s->literals, s->literal_bits, &order);
    return true;
}

bool inflate_distance_table(inflater *s, const uint8_t *lengths, size_t count)
{
    code_order order;
    if (!code_order_make(&order, lengths, count))
        return false;
    /* A block of literals only may have none. */
    if (!order.complete && order.max_bits > 1)
        return false;
    s->distance_bits = order.max_bits < INFLATE_DISTANCE_BITS
                           ? order.max_bits
                           : INFLATE_DISTANCE_BITS;
    const table_shape shape = {s->distances,
                               INFLATE_DISTANCE_ENTRIES,
                               s->distance_bits,
                               ENTRY_DISTANCE_EXCEPTION,
                               false,
                               distance_entry};
    return table_fill(&shape, &order);
}

static uint32_t code_length_entry(unsigned symbol, unsigned bits)
{
    return symbol << 8 | bits;
}

bool inflate_code_length_table(const uint8_t lengths[CODE_LENGTH_SYMBOLS],
                               uint32_t table[1 << CODE_LENGTH_BITS])
{
    code_order order;
    if (!code_order_make(&order, lengths, CODE_LENGTH_SYMBOLS) ||
        !order.complete)
        return false;
    const table_shape shape = {table,
                               (size_t)1 << CODE_LENGTH_BITS,
                               CODE_LENGTH_BITS,
                               0,
                               false,
                               code_length_entry};
    return table_fill(&shape, &order);
}

void inflate_fixed_tables(inflater *s)
{
    if (s->fixed_tables)
        return;
    uint8_t lengths[LITERAL_SYMBOLS];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    (void)inflate_literal_table(s, lengths, LITERAL_SYMBOLS);
    memset(lengths, 5, DISTANCE_SYMBOLS);
    (void)inflate_distance_table(s, lengths, DISTANCE_SYMBOLS);
    s->fixed_tables = true;
}
