/* SPDX-License-Identifier: MIT */
/* Raw DEFLATE (RFC 1951), decoded in steps that end at exact bit positions. */
#include "compress/inflate.h"

#include <string.h>

#include "base/coding.h"
#include "compress/inflate_bits.h"
#include "compress/inflate_copy.h"
#include "compress/inflate_tables.h"

#if defined(__GNUC__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#else
#define ALWAYS_INLINE inline
#define LIKELY(x) (x)
#endif

/* A round of the decoding loop reads at most this many bytes of input ... */
#define ROUND_INPUT 24
/* ... and writes at most this many of output. */
#define ROUND_OUTPUT 264

void inflate_init(inflater *s)
{
    s->fixed_tables = false;
    inflate_begin(s);
}

void inflate_begin(inflater *s)
{
    s->in_next = s->in_end = NULL;
    s->in_last = false;
    s->bits = 0;
    s->bit_count = 0;
    s->out = NULL;
    s->history = NULL;
    s->sources = NULL;
    s->window_end = NULL;
    s->place = INFLATE_AT_BLOCK;
    s->final = false;
    s->stored_left = 0;
    s->problem = NULL;
}

void inflate_set_input(inflater *s, const uint8_t *data, size_t size_bytes,
                       bool last, unsigned skip_bits)
{
    inflate_move_input(s, data, size_bytes, last);
    s->bits = 0;
    s->bit_count = 0;
    if (skip_bits != 0 && size_bytes != 0) {
        s->bits = (uint64_t)*s->in_next++ >> skip_bits;
        s->bit_count = 8 - skip_bits;
    }
}

void inflate_move_input(inflater *s, const uint8_t *data, size_t size_bytes,
                        bool last)
{
    s->in_next = data;
    s->in_end = data + size_bytes;
    s->in_last = last;
}

uint64_t inflate_bits_left(const inflater *s)
{
    return (uint64_t)(s->in_end - s->in_next) * 8 + s->bit_count;
}

/* A copy of `size_bytes` is made from `from`. Without a branch: most of them
 * read the window at first, few do in the end. */
static ALWAYS_INLINE void note_source(inflate_source **sources,
                                      const uint8_t *window_end,
                                      const uint8_t *from, size_t size_bytes)
{
    const ptrdiff_t back = window_end - from;
    **sources = (inflate_source){(uint16_t)(INFLATE_WINDOW_BYTES - back),
                                 (uint16_t)size_bytes};
    *sources += back > 0;
}

/* What the decoding loop works on, in registers. */
typedef struct decode_state {
    const uint8_t *in;
    uint64_t bits;  /* may hold bits above the count: those that come next */
    unsigned count; /* of bits, in its low 8 bits; what is above is junk */
    uint8_t *out;
} decode_state;

/* Makes the count REFILLED_BITS at least. */
static ALWAYS_INLINE void refill(decode_state *d)
{
    d->bits |= load_u64(d->in) << (d->count & 63);
    d->in += 7 - (d->count >> 3 & 7);
    d->count |= 56;
}

/* Drops the bits of an entry; the junk saves a masking. */
static ALWAYS_INLINE void drop_entry(decode_state *d, uint32_t entry)
{
    d->bits >>= entry_bits(entry);
    d->count -= entry;
}

static ALWAYS_INLINE void drop(decode_state *d, unsigned bits)
{
    d->bits >>= bits;
    d->count -= bits;
}

static ALWAYS_INLINE uint32_t peek(const decode_state *d, const uint32_t *table,
                                   unsigned mask)
{
    return table[(unsigned)d->bits & mask];
}

/* The value of a length or distance entry, taken from the input. */
static ALWAYS_INLINE unsigned take_value(decode_state *d, uint32_t entry,
                                         unsigned base)
{
    const uint64_t field = d->bits & (((uint64_t)1 << entry_bits(entry)) - 1);
    drop_entry(d, entry);
    return base + (unsigned)(field >> entry_code_bits(entry));
}

static ALWAYS_INLINE uint32_t subtable_entry(decode_state *d,
                                             const uint32_t *table,
                                             uint32_t entry)
{
    drop_entry(d, entry);
    const unsigned mask = (1u << entry_subtable_bits(entry)) - 1;
    return table[entry_subtable_start(entry) + ((unsigned)d->bits & mask)];
}

/* Writes the literals of an entry that has no length; the next entry, which is
 * found before the writing. */
static ALWAYS_INLINE uint32_t take_literals(decode_state *d,
                                            const uint32_t *literals,
                                            unsigned mask, uint32_t entry)
{
    drop_entry(d, entry);
    const uint32_t next = peek(d, literals, mask);
    store_u16(d->out, (uint16_t)(entry >> 8));
    d->out += entry_literal_count(entry);
    return next;
}

static ALWAYS_INLINE void take_one_literal(decode_state *d, uint32_t entry)
{
    drop(d, entry_first_literal_bits(entry));
    *d->out++ = (uint8_t)(entry >> 8);
}

typedef enum symbol_result {
    SYMBOL_DONE,
    SYMBOL_END,
    SYMBOL_BAD_LENGTH,
    SYMBOL_BAD_DISTANCE,
    SYMBOL_TOO_FAR
} symbol_result;

/* Takes the symbol of an exceptional entry; `*length` 0: it was a literal. */
static ALWAYS_INLINE symbol_result take_exception(decode_state *d,
                                                  const inflater *s,
                                                  uint32_t entry,
                                                  unsigned *length)
{
    *length = 0;
    if ((entry & ENTRY_SUBTABLE) != 0)
        entry = subtable_entry(d, s->literals, entry);
    if ((entry & ENTRY_LITERALS) != 0) {
        take_one_literal(d, entry);
        return SYMBOL_DONE;
    }
    if ((entry & ENTRY_END) != 0) {
        drop_entry(d, entry);
        return SYMBOL_END;
    }
    if ((entry & ENTRY_RANGE) == 0)
        return SYMBOL_BAD_LENGTH;
    *length = take_value(d, entry, entry_range_length(entry));
    return SYMBOL_DONE;
}

/* Takes the literals and the length of a plain entry. */
static ALWAYS_INLINE unsigned take_plain(decode_state *d, uint32_t entry)
{
    drop_entry(d, entry);
    *d->out = (uint8_t)(entry >> 8);
    d->out += entry_literal_count(entry);
    return entry_plain_length(entry);
}

/* Takes a distance; 0: a code stands for none. */
static ALWAYS_INLINE unsigned take_distance(decode_state *d, const inflater *s,
                                            unsigned mask)
{
    uint32_t entry = peek(d, s->distances, mask);
    if (!LIKELY((entry & ENTRY_DISTANCE_EXCEPTION) == 0)) {
        if ((entry & ENTRY_SUBTABLE) == 0)
            return 0;
        entry = subtable_entry(d, s->distances, entry);
        if ((entry & ENTRY_DISTANCE_EXCEPTION) != 0)
            return 0;
    }
    return take_value(d, entry, entry >> 16);
}

static ALWAYS_INLINE decode_state decode_begin(const inflater *s)
{
    return (decode_state){s->in_next, s->bits, s->bit_count, s->out};
}

static ALWAYS_INLINE void decode_end(inflater *s, const decode_state *d)
{
    s->in_next = d->in;
    s->bits = d->bits;
    s->bit_count = d->count & 63;
    s->out = d->out;
    inflate_settle(s);
}

/* Decodes symbols while a round fits into input and output. The entry of a
 * round is found before the bits behind it are read: with REFILLED_BITS of them
 * there are enough for
 *
 *   - three entries of literals, or two of them and the next entry, after which
 *     bits are read
 *   - a plain entry, a distance and the next entry.
 */
static ALWAYS_INLINE symbol_result decode_rounds(inflater *s,
                                                 const uint8_t *in_stop,
                                                 const uint8_t *out_stop,
                                                 bool note)
{
    decode_state d = decode_begin(s);
    inflate_source *sources = s->sources;
    const uint32_t *literals = s->literals;
    const unsigned mask = (1u << s->literal_bits) - 1;
    const unsigned distance_mask = (1u << s->distance_bits) - 1;
    symbol_result result = SYMBOL_DONE;
    refill(&d);
    uint32_t entry = peek(&d, literals, mask);
    while (d.in <= in_stop && d.out < out_stop) {
        refill(&d);
        if ((entry & ENTRY_LITERALS) != 0) {
            entry = take_literals(&d, literals, mask, entry);
            if ((entry & ENTRY_LITERALS) != 0) {
                entry = take_literals(&d, literals, mask, entry);
                if ((entry & ENTRY_LITERALS) != 0) {
                    entry = take_literals(&d, literals, mask, entry);
                    continue;
                }
            }
            refill(&d);
        }
        unsigned length;
        if (LIKELY((entry & ENTRY_EXCEPTION) == 0)) {
            length = take_plain(&d, entry);
        } else {
            result = take_exception(&d, s, entry, &length);
            if (result != SYMBOL_DONE)
                break;
            refill(&d);
            if (length == 0) {
                entry = peek(&d, literals, mask);
                continue;
            }
        }
        const unsigned distance = take_distance(&d, s, distance_mask);
        entry = peek(&d, literals, mask);
        if (!LIKELY(distance - 1 < (size_t)(d.out - s->history))) {
            result = distance == 0 ? SYMBOL_BAD_DISTANCE : SYMBOL_TOO_FAR;
            break;
        }
        if (note)
            note_source(&sources, s->window_end, d.out - distance, length);
        d.out = inflate_copy(d.out, distance, length);
    }
    decode_end(s, &d);
    s->sources = sources;
    return result;
}

static symbol_result decode_fast(inflater *s, const uint8_t *in_stop,
                                 const uint8_t *out_stop)
{
    return decode_rounds(s, in_stop, out_stop, false);
}

static symbol_result decode_noting(inflater *s, const uint8_t *in_stop,
                                   const uint8_t *out_stop)
{
    return decode_rounds(s, in_stop, out_stop, true);
}

/* The same, a symbol a round, so that the limit is met exactly. */
static symbol_result decode_careful(inflater *s, const uint8_t *in_stop,
                                    const uint8_t *out_stop)
{
    decode_state d = decode_begin(s);
    const unsigned mask = (1u << s->literal_bits) - 1;
    const unsigned distance_mask = (1u << s->distance_bits) - 1;
    symbol_result result = SYMBOL_DONE;
    while (d.in <= in_stop && d.out < out_stop) {
        refill(&d);
        const uint32_t entry = peek(&d, s->literals, mask);
        unsigned length = 0;
        if ((entry & ENTRY_EXCEPTION) != 0)
            result = take_exception(&d, s, entry, &length);
        else if (entry_literal_count(entry) != 0)
            take_one_literal(&d, entry);
        else
            length = take_plain(&d, entry);
        if (result != SYMBOL_DONE)
            break;
        if (length == 0)
            continue;
        const unsigned distance = take_distance(&d, s, distance_mask);
        if (distance - 1 >= (size_t)(d.out - s->history)) {
            result = distance == 0 ? SYMBOL_BAD_DISTANCE : SYMBOL_TOO_FAR;
            break;
        }
        if (s->sources != NULL)
            note_source(&s->sources, s->window_end, d.out - distance, length);
        d.out = inflate_copy(d.out, distance, length);
    }
    decode_end(s, &d);
    return result;
}

static inflate_stop end_block(inflater *s)
{
    s->place = s->final ? INFLATE_AT_END : INFLATE_AT_BLOCK;
    return s->final ? INFLATE_END : INFLATE_BLOCK;
}

static inflate_stop run_coded(inflater *s, uint8_t *limit)
{
    if (s->out >= limit)
        return INFLATE_LIMIT;
    if (!s->in_last && s->in_end - s->in_next < ROUND_INPUT)
        return INFLATE_INPUT;
    const uint8_t *in_stop =
        s->in_last ? s->in_end + INFLATE_LAST_OVERRUN : s->in_end - ROUND_INPUT;
    symbol_result result = SYMBOL_DONE;
    if (limit - s->out > ROUND_OUTPUT)
        result = s->sources == NULL
                     ? decode_fast(s, in_stop, limit - ROUND_OUTPUT)
                     : decode_noting(s, in_stop, limit - ROUND_OUTPUT);
    if (result == SYMBOL_DONE)
        result = decode_careful(s, in_stop, limit);
    if (inflate_is_truncated(s))
        return INFLATE_TRUNCATED;
    switch (result) {
    case SYMBOL_DONE:
        return s->out >= limit ? INFLATE_LIMIT : INFLATE_INPUT;
    case SYMBOL_END:
        return end_block(s);
    case SYMBOL_BAD_LENGTH:
        return inflate_corrupt(s, "a code stands for no literal or length");
    case SYMBOL_BAD_DISTANCE:
        return inflate_corrupt(s, "a code stands for no distance");
    default:
        return inflate_corrupt(s, "a copy reaches too far back");
    }
}

static inflate_stop run_stored(inflater *s, const uint8_t *limit)
{
    const size_t have =
        s->in_next < s->in_end ? (size_t)(s->in_end - s->in_next) : 0;
    const size_t room = s->out < limit ? (size_t)(limit - s->out) : 0;
    size_t size = s->stored_left;
    size = size < have ? size : have;
    size = size < room ? size : room;
    memcpy(s->out, s->in_next, size);
    s->out += size;
    s->in_next += size;
    s->stored_left -= (uint32_t)size;
    if (s->stored_left == 0)
        return end_block(s);
    if (s->out >= limit)
        return INFLATE_LIMIT;
    return s->in_last ? INFLATE_TRUNCATED : INFLATE_INPUT;
}

inflate_stop inflate_run(inflater *s, uint8_t *limit)
{
    if (s->place == INFLATE_AT_END)
        return INFLATE_END;
    if (s->place == INFLATE_AT_BLOCK) {
        const inflate_stop stop = inflate_read_header(s);
        if (stop != INFLATE_LIMIT)
            return stop;
    }
    return s->place == INFLATE_IN_STORED ? run_stored(s, limit)
                                         : run_coded(s, limit);
}

bool inflate_whole(inflater *s, const uint8_t *in, size_t in_bytes,
                   uint8_t *out, size_t out_bytes)
{
    inflate_begin(s);
    inflate_set_input(s, in, in_bytes, true, 0);
    s->out = out;
    s->history = out;
    uint8_t *end = out + out_bytes;
    inflate_stop stop = INFLATE_BLOCK;
    /* The end of the stream comes after the last byte of output. */
    while (stop == INFLATE_BLOCK || (stop == INFLATE_LIMIT && s->out == end))
        stop = inflate_run(s, s->out < end ? end : end + 1);
    return stop == INFLATE_END && s->out == end && s->in_next == s->in_end;
}
