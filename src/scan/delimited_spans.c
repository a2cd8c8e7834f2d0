/* SPDX-License-Identifier: MIT */
/* Reads csv and tsv by masks: the loop in which nearly all of nearly every
 * content is read. */
#include <string.h>

#include "base/error.h"
#include "scan/bits.h"
#include "scan/delimited_reader.h"

/* A part of a record; positions are those of the span. */
typedef struct span_field {
    size_t start;
    size_t end;
} span_field;

/* The end of the first field alone is found without a list. */
static bool needs_list(const record_reader *base)
{
    return base->spec->part_count > 1 || base->layout.columns[0] > 0;
}

static void set_up_span(const record_reader *base, record_span *span)
{
    const delimited_reader *r = (const delimited_reader *)base;
    span->lists_delimiters = needs_list(base);
    span->delimiter = r->delimiter;
    if (r->has_quote)
        span->quote = r->quote;
    span->escapes = r->escapes;
}

/* Delimiters of the record that begins at the next one and ends at `end`:
 * usually as many as in the record before. */
static inline size_t count_delimiters(const record_span *span, size_t end)
{
    const uint16_t *next = span->delimiters + span->next_delimiter;
    size_t count = span->row_delimiters;
    size_t left = span->delimiter_count - span->next_delimiter;
    if (count <= left && next[count] > end &&
        (count == 0 || next[count - 1] < end))
        return count;
    count = 0;
    while (next[count] < end)
        count++;
    return count;
}

/* The end of the first field of a record. */
static inline size_t first_field_end(const record_span *span, size_t start,
                                     size_t end)
{
    size_t at = start;
    for (; at < end; at += 64) {
        uint64_t bits = record_span_bits(span->delimiter_mask, at);
        if (bits == 0)
            continue;
        at += bits_lowest(bits);
        return at < end ? at : end;
    }
    return end;
}

/* The only quote behind the one at `start` is the last byte before `end`. */
static inline bool closes_at_end(const record_span *span, size_t start,
                                 size_t end)
{
    for (size_t at = start + 1; at < end; at += 64) {
        uint64_t bits = record_span_bits(span->quote_mask, at);
        if (bits != 0)
            return at + bits_lowest(bits) == end - 1;
    }
    return false;
}

/* Takes off the quotes around a value; false: that is not all there is to do.
 */
static inline bool trim_field(const delimited_reader *r, span_field *field)
{
    const record_span *span = r->base.span;
    if (r->escapes && field->end > field->start &&
        memchr(span->data + field->start, '\\', field->end - field->start) !=
            NULL)
        return false;
    if (!r->has_quote || field->start == field->end ||
        span->data[field->start] != r->quote)
        return true;
    if (!closes_at_end(span, field->start, field->end))
        return false;
    field->start++;
    field->end--;
    return true;
}

/* Field `column` of the next record, which has `delimiters` of them. */
static inline bool find_field(const delimited_reader *r, size_t start,
                              size_t end, size_t delimiters, uint64_t column,
                              span_field *field)
{
    const record_span *span = r->base.span;
    const uint16_t *next = span->delimiters + span->next_delimiter;
    field->start = column == 0 ? start : (size_t)next[column - 1] + 1;
    field->end = column == delimiters ? end : next[column];
    return trim_field(r, field);
}

/* The key of the record [start, end) when it is one column; false: it takes
 * more care. */
static inline bool take_one(delimited_reader *r, size_t start, size_t end,
                            size_t delimiters, scan_record *record)
{
    uint64_t column = r->base.layout.columns[0];
    span_field field = {start, start};
    if (!r->base.span->lists_delimiters) {
        field.end = first_field_end(r->base.span, start, end);
        if (!trim_field(r, &field))
            return false;
    } else if (column <= delimiters &&
               !find_field(r, start, end, delimiters, column, &field)) {
        return false;
    }
    record->key = r->base.span->data + field.start;
    record->key_bytes = field.end - field.start;
    record->kind =
        record->key_bytes > 0 ? SCAN_RECORD_KEYED : SCAN_RECORD_WITHOUT_KEY;
    return true;
}

/* The same for several: fills in the parts. */
static bool take_parts(delimited_reader *r, size_t start, size_t end,
                       size_t delimiters)
{
    for (size_t i = 0; i < r->base.spec->part_count; i++) {
        uint64_t column = r->base.layout.columns[i];
        span_field field = {start, start};
        if (column <= delimiters &&
            !find_field(r, start, end, delimiters, column, &field)) {
            while (i > 0)
                part_reset(&r->base.parts[--i]);
            return false;
        }
        r->base.parts[i].data = r->base.span->data + field.start;
        r->base.parts[i].size = field.end - field.start;
    }
    return true;
}

/* Gives the next record of the span; `*plain` is false, and the reader is
 * before the record, when it takes more care. */
static inline ksv_status take_next(delimited_reader *r, scan_record *records,
                                   size_t *count, bool *plain, ksv_error *error)
{
    record_span *span = r->base.span;
    size_t start = span->start;
    size_t end = span->ends[span->next_end++];
    span->start = end + 1;
    size_t delimiters = 0;
    if (span->lists_delimiters)
        delimiters = count_delimiters(span, end);
    if (r->drops_cr && end > start && span->data[end - 1] == '\r')
        end--;
    if (end > start) {
        scan_record *record = &records[*count];
        record->offset = r->base.window_offset +
                         (uint64_t)(span->data - r->base.data) + start;
        record->length = end - start;
        if (r->base.spec->part_count == 1) {
            *plain = take_one(r, start, end, delimiters, record);
        } else {
            *plain = take_parts(r, start, end, delimiters);
            if (*plain)
                KSV_TRY(reader_finish_key(&r->base, record, error));
        }
        *count += *plain;
    }
    span->row_delimiters = delimiters;
    span->next_delimiter += delimiters;
    return KSV_OK;
}

ksv_status delimited_take_spans(delimited_reader *r, scan_record *records,
                                size_t capacity, size_t *count,
                                ksv_error *error)
{
    record_reader *base = &r->base;
    if (base->span != NULL &&
        base->span->lists_delimiters != needs_list(base)) {
        base->span->lists_delimiters = !base->span->lists_delimiters;
        record_span_forget(base->span);
    }
    bool plain = true;
    while (plain && *count < capacity && !reader_batch_is_full(base)) {
        bool any;
        KSV_TRY(reader_cut_span(base, set_up_span, &any, error));
        if (!any)
            return KSV_OK;
        record_span *span = base->span;
        size_t next = span->start;
        while (*count < capacity && span->next_end < span->end_count &&
               !reader_batch_is_full(base)) {
            KSV_TRY(take_next(r, records, count, &plain, error));
            if (!plain)
                break;
            next = span->start;
        }
        base->position = (size_t)(span->data - base->data) + next;
    }
    return KSV_OK;
}
