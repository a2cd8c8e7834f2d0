/* SPDX-License-Identifier: MIT */
/* Where records begin, without reading them. */
#include "scan/record_split.h"

#include "base/bits.h"

#include <string.h>

/* So many blocks at once are looked at for quotes. */
#define SPLIT_BLOCKS 64
#define SPLIT_BYTES ((size_t)SPLIT_BLOCKS * STRUCTURE_BLOCK_BYTES)

static split_rule rule_of(const scan_spec *spec)
{
    switch (spec->format) {
    case KSV_FORMAT_CSV:
    case KSV_FORMAT_TSV:
        return spec->quote != KSV_BYTE_NONE ? SPLIT_QUOTES : SPLIT_LINES;
    case KSV_FORMAT_LINES:
    case KSV_FORMAT_JSONL:
        return SPLIT_LINES;
    case KSV_FORMAT_FIXED:
        return spec->record_size > 0 ? SPLIT_SIZE : SPLIT_LINES;
    case KSV_FORMAT_FASTA:
        return SPLIT_HEADERS;
    default:
        return SPLIT_NEVER;
    }
}

void record_split_init(record_split *split, const scan_spec *spec,
                       const uint8_t *head, size_t head_bytes)
{
    static const uint8_t MARK[RECORD_SPLIT_HEAD_BYTES] = {0xef, 0xbb, 0xbf};
    bool marked =
        head_bytes >= sizeof MARK && memcmp(head, MARK, sizeof MARK) == 0;
    *split = (record_split){
        .rule = rule_of(spec),
        .kernels = structure_choose(),
        .end_byte = spec->record_end_cr ? '\r' : '\n',
        .delimiter = spec->delimiter,
        .quote = spec->quote != KSV_BYTE_NONE ? (uint8_t)spec->quote : 0,
        .escapes = spec->escape_backslash,
        .record_size = spec->record_size,
        .first_offset = marked ? sizeof MARK : 0,
    };
}

split_state record_split_begin(const record_split *split)
{
    (void)split;
    return (split_state){.at_line = true, .quotes = {0, 1}};
}

static size_t pass_lines(const record_split *split, split_state *state,
                         const uint8_t *data, size_t size)
{
    bool at_line = state->at_line;
    state->at_line = data[size - 1] == split->end_byte;
    if (at_line)
        return 0;
    const uint8_t *end = memchr(data, split->end_byte, size);
    return end != NULL ? (size_t)(end + 1 - data) : size;
}

static size_t pass_headers(const record_split *split, split_state *state,
                           const uint8_t *data, size_t size)
{
    bool at_line = state->at_line;
    state->at_line = data[size - 1] == split->end_byte;
    for (size_t i = 0; i < size; i++) {
        const uint8_t *found = memchr(data + i, '>', size - i);
        if (found == NULL)
            break;
        i = (size_t)(found - data);
        if (i > 0 ? found[-1] == split->end_byte : at_line)
            return i;
    }
    return size;
}

static size_t pass_sized(const record_split *split, uint64_t offset,
                         size_t size)
{
    uint64_t into = (offset - split->first_offset) % split->record_size;
    uint64_t first = into == 0 ? 0 : split->record_size - into;
    return first < size ? (size_t)first : size;
}

/* One byte of a content with quotes. */
static void step(const record_split *split, split_state *s, uint8_t c)
{
    bool data = s->escaped != 0 && c != split->end_byte;
    bool inside = s->quotes.inside != 0;
    s->escaped = !data && split->escapes && c == '\\';
    bool ends = !inside && c == split->end_byte;
    bool opens = s->quotes.may_open != 0;
    s->at_line = ends;
    s->quotes.may_open = ends;
    if (data)
        return;
    if (c == split->quote) {
        s->quotes.inside = !inside && opens ? ~UINT64_C(0) : 0;
        s->quotes.may_open = inside && !split->escapes;
    } else if (!inside && c == split->delimiter) {
        s->quotes.may_open = 1;
    }
}

/* The same for whole blocks: at most SPLIT_BLOCKS of them. */
static size_t pass_blocks(const record_split *split, split_state *s,
                          const uint8_t *data, size_t size)
{
    const uint8_t wanted[] = {split->end_byte, split->delimiter, split->quote,
                              '\\'};
    uint64_t masks[4][SPLIT_BLOCKS];
    uint64_t *const rows[] = {masks[0], masks[1], masks[2], masks[3]};
    size_t blocks = size / STRUCTURE_BLOCK_BYTES;
    split->kernels->find(data, size, wanted, split->escapes ? 4 : 3, rows);
    if (split->escapes)
        structure_drop_escaped(masks[3], masks[2], masks[1], blocks,
                               &s->escaped);
    structure_fields fields = {masks[0], masks[1], masks[2],
                               split->escapes ? 0 : ~UINT64_C(0)};
    split->kernels->unquote(&fields, blocks, &s->quotes);
    s->at_line = masks[0][blocks - 1] >> 63 != 0;
    for (size_t b = 0; b < blocks; b++) {
        if (masks[0][b] != 0)
            return b * STRUCTURE_BLOCK_BYTES + bits_lowest(masks[0][b]) + 1;
    }
    return size;
}

/* The same for any number of blocks, when nobody asks where records begin. */
static void pass_fast(const record_split *split, split_state *s,
                      const uint8_t *data, size_t size)
{
    const uint8_t wanted[] = {split->end_byte, split->delimiter, split->quote};
    split->kernels->pass(data, size / STRUCTURE_BLOCK_BYTES, wanted,
                         ~UINT64_C(0), &s->quotes);
    s->at_line = s->quotes.inside == 0 && data[size - 1] == split->end_byte;
}

static size_t pass_quotes(const record_split *split, split_state *s,
                          const uint8_t *data, size_t size, bool first_only)
{
    size_t first = s->at_line ? 0 : size;
    size_t at = 0;
    while (size - at >= STRUCTURE_BLOCK_BYTES) {
        if (first_only && first < size)
            return first;
        size_t left = size - at - (size - at) % STRUCTURE_BLOCK_BYTES;
        if (first < size && !split->escapes) {
            pass_fast(split, s, data + at, left);
            at += left;
            break;
        }
        size_t part = left < SPLIT_BYTES ? left : SPLIT_BYTES;
        size_t found = pass_blocks(split, s, data + at, part);
        /* One that begins behind the part is found by the next step, too. */
        if (first == size && (found < part || s->at_line))
            first = at + found;
        at += part;
    }
    for (; at < size; at++) {
        if (s->at_line && first == size)
            first = at;
        step(split, s, data[at]);
    }
    return first;
}

size_t record_split_pass(const record_split *split, split_state *state,
                         uint64_t offset, const uint8_t *data, size_t size,
                         bool first_only)
{
    size_t before = 0;
    if (offset < split->first_offset)
        before = split->first_offset - offset < size
                     ? (size_t)(split->first_offset - offset)
                     : size;
    if (before == size)
        return size;
    data += before;
    size_t left = size - before;
    switch (split->rule) {
    case SPLIT_LINES:
        return before + pass_lines(split, state, data, left);
    case SPLIT_QUOTES:
        return before + pass_quotes(split, state, data, left, first_only);
    case SPLIT_SIZE:
        return before + pass_sized(split, offset + before, left);
    case SPLIT_HEADERS:
        return before + pass_headers(split, state, data, left);
    case SPLIT_NEVER:
        break;
    }
    return size;
}
