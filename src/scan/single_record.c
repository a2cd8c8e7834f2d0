/* SPDX-License-Identifier: MIT */
/* The end and the key of a single record of fields, by masks. */
#include "scan/single_record.h"

#include "scan/record_span.h"

/* Looked at together, and at most. */
#define STEP_BLOCKS 2
#define MOST_BLOCKS 16

/* The record from its first byte on; one word more than blocks, which is 0. */
typedef struct single_masks {
    uint64_t ends[MOST_BLOCKS + 1];
    uint64_t delimiters[MOST_BLOCKS + 1];
    uint64_t quotes[MOST_BLOCKS + 1];
} single_masks;

/* The masks of the blocks from `first` on, without what is within quotes. */
static void find_structure(const single_shape *shape, const uint8_t *data,
                           size_t size, size_t first, structure_quotes *state,
                           single_masks *m)
{
    const uint8_t wanted[] = {shape->end_byte, shape->delimiter, shape->quote};
    uint64_t *const masks[] = {m->ends + first, m->delimiters + first,
                               m->quotes + first};
    size_t count = shape->has_quote ? 3 : 2;
    size_t blocks = STRUCTURE_BLOCKS(size);
    shape->kernels->find(data, size, wanted, count, masks);
    for (size_t i = 0; i < count; i++)
        masks[i][blocks] = 0;
    if (!shape->has_quote)
        return;
    structure_fields fields = {masks[0], masks[1], masks[2], ~UINT64_C(0)};
    shape->kernels->unquote(&fields, blocks, state);
}

/* Where the record ends; SIZE_MAX: not within the blocks looked at. */
static size_t find_end(const single_shape *shape, const uint8_t *data,
                       size_t size, single_masks *m)
{
    structure_quotes state = {.inside = 0, .may_open = 1};
    const size_t step = STEP_BLOCKS * STRUCTURE_BLOCK_BYTES;
    for (size_t first = 0; first < MOST_BLOCKS; first += STEP_BLOCKS) {
        size_t from = first * STRUCTURE_BLOCK_BYTES;
        if (from >= size)
            break;
        find_structure(shape, data + from,
                       size - from < step ? size - from : step, first, &state,
                       m);
        for (size_t b = first; b < first + STEP_BLOCKS; b++)
            if (m->ends[b] != 0)
                return b * STRUCTURE_BLOCK_BYTES + bits_lowest(m->ends[b]);
    }
    return SIZE_MAX;
}

/* Field `column` of the record [0, end); false: there is none. */
static bool find_column(const single_masks *m, size_t end, uint64_t column,
                        size_t *field_start, size_t *field_end)
{
    size_t start = 0;
    for (; column > 0; column--) {
        start = record_span_next_bit(m->delimiters, start, end) + 1;
        if (start > end)
            return false;
    }
    *field_start = start;
    *field_end = record_span_next_bit(m->delimiters, start, end);
    return true;
}

/* Takes off the quotes around a value; false: that is not all there is to do.
 */
static bool trim_quotes(const single_shape *shape, const uint8_t *data,
                        const single_masks *m, size_t *start, size_t *end)
{
    if (!shape->has_quote || *start == *end || data[*start] != shape->quote)
        return true;
    if (record_span_next_bit(m->quotes, *start + 1, *end) + 1 != *end)
        return false;
    ++*start;
    --*end;
    return true;
}

bool single_record_find(const single_shape *shape, const uint8_t *data,
                        size_t size, single_record *record)
{
    single_masks m;
    size_t end = find_end(shape, data, size, &m);
    if (end == SIZE_MAX)
        return false;
    size_t length = end;
    if (shape->drops_cr && length > 0 && data[length - 1] == '\r')
        length--;
    *record = (single_record){.end = end, .length = length};
    if (length == 0)
        return false;
    return !find_column(&m, length, shape->column, &record->key_start,
                        &record->key_end) ||
           trim_quotes(shape, data, &m, &record->key_start, &record->key_end);
}
