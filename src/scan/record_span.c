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

/* Bytes behind a backslash that is not itself escaped. A backslash does not
 * escape the end of a record, which is no delimiter and no quote. */
static void drop_escaped(record_span *span, size_t blocks)
{
    uint64_t escaped = 0; /* the first byte of the block: 1, or 0 */
    for (size_t b = 0; b < blocks; b++) {
        uint64_t dropped = escaped;
        uint64_t backslashes = span->escape_mask[b] & ~escaped;
        escaped = 0;
        while (backslashes != 0) {
            uint64_t first = backslashes & (0 - backslashes);
            dropped |= first << 1;
            escaped = first >> 63;
            backslashes &= ~(first | first << 1);
        }
        span->quote_mask[b] &= ~dropped;
        span->delimiter_mask[b] &= ~dropped;
    }
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

void record_span_cut(record_span *span, const uint8_t *data, size_t size)
{
    span->data = data;
    span->size = size < RECORD_SPAN_BYTES ? size : RECORD_SPAN_BYTES;
    size_t blocks = STRUCTURE_BLOCKS(span->size);
    find(span, blocks);
    if (span->escapes)
        drop_escaped(span, blocks);
    if (span->quote != KSV_BYTE_NONE) {
        structure_fields fields = {span->end_mask, span->delimiter_mask,
                                   span->quote_mask,
                                   span->escapes ? 0 : ~UINT64_C(0)};
        structure_quotes state = {.inside = 0, .may_open = 1};
        span->kernels->unquote(&fields, blocks, &state);
    }
    span->start = 0;
    span->next_end = 0;
    span->end_count = span->kernels->list(span->end_mask, blocks, span->ends);
    span->next_delimiter = 0;
    if (!span->lists_delimiters)
        return;
    span->delimiter_count =
        span->kernels->list(span->delimiter_mask, blocks, span->delimiters);
    span->delimiters[span->delimiter_count] = UINT16_MAX;
}
