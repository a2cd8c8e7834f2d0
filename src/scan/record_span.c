/* SPDX-License-Identifier: MIT */
/* Splits a stretch of a window by masks of its structure. */
#include "scan/record_span.h"

#include <string.h>

void record_span_init(record_span *span, const scan_spec *spec)
{
    span->kernels = structure_choose();
    span->end_byte = spec->record_end_cr ? '\r' : '\n';
    span->delimiter = KSV_BYTE_NONE;
    span->quote = KSV_BYTE_NONE;
    span->escapes = false;
    span->lists_delimiters = false;
    span->row_delimiters = 0;
    record_span_forget(span);
}

static void find(record_span *span, size_t blocks)
{
    uint8_t wanted[STRUCTURE_WANTED_MAX] = {span->end_byte};
    uint64_t *masks[STRUCTURE_WANTED_MAX] = {span->end_mask};
    size_t count = 1;
    if (span->delimiter != KSV_BYTE_NONE) {
        wanted[count] = (uint8_t)span->delimiter;
        masks[count++] = span->delimiter_mask;
    }
    if (span->quote != KSV_BYTE_NONE) {
        wanted[count] = (uint8_t)span->quote;
        masks[count++] = span->quote_mask;
    }
    if (span->escapes) {
        wanted[count] = '\\';
        masks[count++] = span->escape_mask;
    }
    span->kernels->find(span->data, span->size, wanted, count, masks);
    for (size_t i = 0; i < count; i++)
        masks[i][blocks] = 0;
}

static void make_lists(record_span *span, size_t blocks)
{
    span->next_end = 0;
    span->end_count = span->kernels->list(span->end_mask, blocks, span->ends);
    span->next_delimiter = 0;
    if (!span->lists_delimiters)
        return;
    span->delimiter_count =
        span->kernels->list(span->delimiter_mask, blocks, span->delimiters);
    span->delimiters[span->delimiter_count] = UINT16_MAX;
}

void record_span_cut(record_span *span, const uint8_t *data, size_t size)
{
    span->data = data;
    span->size = size < RECORD_SPAN_BYTES ? size : RECORD_SPAN_BYTES;
    size_t blocks = STRUCTURE_BLOCKS(span->size);
    find(span, blocks);
    uint64_t escaped = 0;
    if (span->escapes)
        structure_drop_escaped(span->escape_mask, span->quote_mask,
                               span->delimiter_mask, blocks, &escaped);
    if (span->quote != KSV_BYTE_NONE) {
        structure_fields fields = {span->end_mask, span->delimiter_mask,
                                   span->quote_mask,
                                   span->escapes ? 0 : ~UINT64_C(0)};
        structure_quotes state = {.inside = 0, .may_open = 1};
        span->kernels->unquote(&fields, blocks, &state);
    }
    span->start = 0;
    make_lists(span, blocks);
}

/* Bits below `start` do not count. */
static void copy_mask(uint64_t *to, const uint64_t *from, size_t blocks,
                      size_t start)
{
    memcpy(to, from, blocks * sizeof *to);
    to[0] &= ~UINT64_C(0) << start;
    to[blocks] = 0;
}

void record_span_cut_marked(record_span *span, const record_marks *marks,
                            size_t position)
{
    size_t start = position % STRUCTURE_BLOCK_BYTES;
    size_t first = position / STRUCTURE_BLOCK_BYTES;
    size_t left = marks->size - (position - start);
    span->data = marks->data + (position - start);
    span->size = left < RECORD_SPAN_BYTES ? left : RECORD_SPAN_BYTES;
    size_t blocks = STRUCTURE_BLOCKS(span->size);
    copy_mask(span->end_mask, marks->ends + first, blocks, start);
    copy_mask(span->delimiter_mask, marks->delimiters + first, blocks, start);
    copy_mask(span->quote_mask, marks->quotes + first, blocks, start);
    span->start = start;
    make_lists(span, blocks);
}
