/* SPDX-License-Identifier: MIT */
/* Reads csv and tsv by masks: the loop in which nearly all of nearly every
 * content is read. */
#include <string.h>

#include "base/error.h"
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
    size_t next =
        record_span_next_bit(span->quote_mask, field->start + 1, field->end);
    if (next + 1 != field->end)
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

static inline void set_key(scan_record *record, const uint8_t *data,
                           const span_field *field)
{
    record->key = data + field->start;
    record->key_bytes = field->end - field->start;
    record->kind =
        record->key_bytes > 0 ? SCAN_RECORD_KEYED : SCAN_RECORD_WITHOUT_KEY;
}

/* The key of the record [start, end) when it is one column; false: it takes
 * more care. */
static inline bool take_one(const delimited_reader *r, size_t start, size_t end,
                            size_t delimiters, scan_record *record)
{
    uint64_t column = r->base.layout.columns[0];
    span_field field = {start, start};
    if (column <= delimiters &&
        !find_field(r, start, end, delimiters, column, &field))
        return false;
    set_key(record, r->base.span->data, &field);
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
    size_t delimiters = count_delimiters(span, end);
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

/* As long as records take no more care: returns how many were given. */
static ksv_status take_fields(delimited_reader *r, scan_record *records,
                              size_t capacity, size_t *count, bool *plain,
                              ksv_error *error)
{
    record_span *span = r->base.span;
    while (*count < capacity && span->next_end < span->end_count &&
           !reader_batch_is_full(&r->base)) {
        size_t start = span->start;
        KSV_TRY(take_next(r, records, count, plain, error));
        if (!*plain) {
            r->base.position = (size_t)(span->data - r->base.data) + start;
            return KSV_OK;
        }
    }
    r->base.position = (size_t)(span->data - r->base.data) + span->start;
    return KSV_OK;
}

/* The same when the key is the first field: the fastest loop of all. */
static void take_first_fields(delimited_reader *r, scan_record *records,
                              size_t capacity, size_t *count, bool *plain)
{
    record_span *span = r->base.span;
    const uint8_t *data = span->data;
    const bool drops_cr = r->drops_cr;
    size_t position = (size_t)(data - r->base.data);
    uint64_t offset = r->base.window_offset + position;
    size_t given = *count;
    size_t start = span->start;
    size_t i = span->next_end;
    for (; i < span->end_count && given < capacity; i++) {
        size_t end = span->ends[i];
        size_t next = end + 1;
        if (drops_cr && end > start && data[end - 1] == '\r')
            end--;
        span_field field = {
            start, record_span_next_bit(span->delimiter_mask, start, end)};
        *plain = trim_field(r, &field);
        if (!*plain)
            break;
        scan_record *record = &records[given];
        record->offset = offset + start;
        record->length = end - start;
        set_key(record, data, &field);
        given += end > start;
        start = next;
    }
    *count = given;
    r->base.position = position + start;
    /* With care, too, this record will be taken whole. */
    span->start = *plain ? start : (size_t)span->ends[i] + 1;
    span->next_end = *plain ? i : i + 1;
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
        if (base->span->lists_delimiters)
            KSV_TRY(take_fields(r, records, capacity, count, &plain, error));
        else
            take_first_fields(r, records, capacity, count, &plain);
    }
    return KSV_OK;
}
