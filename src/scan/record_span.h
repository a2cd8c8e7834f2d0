/* SPDX-License-Identifier: MIT */
/* A stretch of a window that begins with a record: where its records end and
 * their fields are delimited, as lists. */
#ifndef KSV_SCAN_RECORD_SPAN_H
#define KSV_SCAN_RECORD_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/coding.h"
#include "scan/record_marks.h"
#include "scan/scan_spec.h"
#include "scan/structure.h"

#define RECORD_SPAN_BLOCKS 256
#define RECORD_SPAN_BYTES ((size_t)RECORD_SPAN_BLOCKS * STRUCTURE_BLOCK_BYTES)
_Static_assert(RECORD_SPAN_BLOCKS <= STRUCTURE_LIST_BLOCKS_MAX,
               "positions in a span fit the lists");
#define RECORD_SPAN_LIST (RECORD_SPAN_BYTES + STRUCTURE_LIST_SPARE)

/* Positions count from the span's first byte. */
typedef struct record_span {
    const structure_kernels *kernels;
    uint8_t end_byte;
    int delimiter; /* a byte, or KSV_BYTE_NONE */
    int quote;     /* likewise */
    bool escapes;  /* a backslash does, inside quotes and outside */
    bool lists_delimiters;

    const uint8_t *data;
    size_t size;
    size_t start;     /* of the next record */
    size_t end_count; /* records that end in the span */
    size_t next_end;  /* in `ends`, of the next record */
    size_t delimiter_count;
    size_t next_delimiter;
    size_t row_delimiters; /* of the last record: the next one's, usually */
    uint16_t ends[RECORD_SPAN_LIST];
    /* Those outside quotes; the list ends with one beyond the span. */
    uint16_t delimiters[RECORD_SPAN_LIST];
    /* One word more than blocks, which is 0. */
    uint64_t end_mask[RECORD_SPAN_BLOCKS + 1];
    uint64_t delimiter_mask[RECORD_SPAN_BLOCKS + 1];
    uint64_t quote_mask[RECORD_SPAN_BLOCKS + 1];
    uint64_t escape_mask[RECORD_SPAN_BLOCKS + 1];
} record_span;

/* Without a span yet. */
void record_span_init(record_span *span, const scan_spec *spec);

/* Splits [data, data + size), or the first RECORD_SPAN_BYTES of it, where a
 * record begins and quotes are closed. */
void record_span_cut(record_span *span, const uint8_t *data, size_t size);

/* The same for what begins at `position` of a stretch with complete marks; the
 * span has the quotes and delimiters that they are of, and no escapes. */
void record_span_cut_marked(record_span *span, const record_marks *marks,
                            size_t position);

static inline void record_span_forget(record_span *span)
{
    span->data = NULL;
    span->end_count = 0;
    span->next_end = 0;
}

/* Whether the next record of the span is the one that begins at `data`. */
static inline bool record_span_is_at(const record_span *span,
                                     const uint8_t *data)
{
    return span->next_end < span->end_count && span->data + span->start == data;
}

/* The bits of a mask from `position` on: RECORD_SPAN_BITS of them at least. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#define RECORD_SPAN_BITS 57

static inline uint64_t record_span_bits(const uint64_t *mask, size_t position)
{
    return load_u64((const uint8_t *)mask + position / 8) >> position % 8;
}

#else

#define RECORD_SPAN_BITS 64

static inline uint64_t record_span_bits(const uint64_t *mask, size_t position)
{
    const uint64_t *word = mask + position / 64;
    unsigned shift = position % 64;
    return word[0] >> shift | (word[1] << 1) << (63 - shift);
}

#endif

/* The first bit of a mask from `start` on that is set, or `end`. The mask has a
 * word of zeros behind it. */
static inline size_t record_span_next_bit(const uint64_t *mask, size_t start,
                                          size_t end)
{
    for (size_t at = start; at < end; at += RECORD_SPAN_BITS) {
        uint64_t bits = record_span_bits(mask, at);
        if (bits == 0)
            continue;
        at += bits_lowest(bits);
        return at < end ? at : end;
    }
    return end;
}

#endif
