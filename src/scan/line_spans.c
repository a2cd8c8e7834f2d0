/* SPDX-License-Identifier: MIT */
/* Lines whose ends a span of the window shows, many at once. */
#include "scan/line_spans.h"

#include <string.h>

#include "base/error.h"

static void set_up_span(const record_reader *r, record_span *span)
{
    for (size_t i = 0; i < r->spec->part_count; i++) {
        if (r->spec->parts[i].kind == KEY_PART_COLUMN_NUMBER)
            span->delimiter = r->spec->delimiter;
    }
    span->lists_delimiters = span->delimiter != KSV_BYTE_NONE;
}

/* A line; positions are those of the span. */
typedef struct span_line {
    size_t start;
    size_t end;
    size_t delimiters; /* in it */
} span_line;

/* The next line, which is taken. */
static inline span_line next_line(record_span *span, bool drops_cr)
{
    span_line line = {span->start, span->ends[span->next_end++], 0};
    span->start = line.end + 1;
    if (span->lists_delimiters) {
        const uint16_t *next = span->delimiters + span->next_delimiter;
        while (next[line.delimiters] < line.end)
            line.delimiters++;
    }
    line.end -=
        drops_cr && line.end > line.start && span->data[line.end - 1] == '\r';
    return line;
}

/* Where a part of the key lies in a line; `end` is not greater than `start`
 * when it is not there. */
static inline void find_part(const record_span *span, const key_part *part,
                             const span_line *line, size_t *start, size_t *end)
{
    *start = line->start;
    *end = line->end;
    if (part->kind == KEY_PART_BYTES) {
        size_t length = line->end - line->start;
        *start += part->first - 1 < length ? (size_t)(part->first - 1) : length;
        if (part->last < length)
            *end = line->start + (size_t)part->last;
    } else if (part->kind == KEY_PART_COLUMN_NUMBER) {
        const uint16_t *next = span->delimiters + span->next_delimiter;
        if (part->first - 1 > line->delimiters) {
            *end = *start;
            return;
        }
        if (part->first > 1)
            *start = (size_t)next[part->first - 2] + 1;
        if (part->first - 1 < line->delimiters)
            *end = next[part->first - 1];
    }
}

static inline void strip_spaces(const record_span *span, size_t *start,
                                size_t *end)
{
    while (*start < *end && span->data[*end - 1] == ' ')
        --*end;
    while (*start < *end && span->data[*start] == ' ')
        ++*start;
}

static ksv_status take_parts(record_reader *r, const line_rules *rules,
                             const span_line *line, scan_record *record,
                             ksv_error *error)
{
    for (size_t i = 0; i < r->spec->part_count; i++) {
        size_t start, end;
        find_part(r->span, &r->spec->parts[i], line, &start, &end);
        if (rules->strips_spaces)
            strip_spaces(r->span, &start, &end);
        r->parts[i].data = r->span->data + start;
        r->parts[i].size = end - start;
    }
    return reader_finish_key(r, record, error);
}

static inline ksv_status take_line(record_reader *r, const line_rules *rules,
                                   const span_line *line, scan_record *record,
                                   ksv_error *error)
{
    if (r->spec->part_count > 1)
        return take_parts(r, rules, line, record, error);
    size_t start, end;
    find_part(r->span, &r->spec->parts[0], line, &start, &end);
    if (rules->strips_spaces)
        strip_spaces(r->span, &start, &end);
    record->key = r->span->data + start;
    record->key_bytes = end - start;
    record->kind = end > start ? SCAN_RECORD_KEYED : SCAN_RECORD_WITHOUT_KEY;
    return KSV_OK;
}

static ksv_status take_lines(record_reader *r, const line_rules *rules,
                             scan_record *records, size_t capacity,
                             size_t *count, ksv_error *error)
{
    record_span *span = r->span;
    bool drops_cr = !r->spec->record_end_cr;
    uint64_t offset = r->window_offset + (uint64_t)(span->data - r->data);
    while (*count < capacity && span->next_end < span->end_count &&
           !reader_batch_is_full(r)) {
        span_line line = next_line(span, drops_cr);
        scan_record *record = &records[*count];
        record->offset = offset + line.start;
        record->length = line.end - line.start;
        if (!rules->skips_blank || record->length > 0) {
            KSV_TRY(take_line(r, rules, &line, record, error));
            ++*count;
        }
        span->next_delimiter += line.delimiters;
    }
    return KSV_OK;
}

ksv_status line_spans_take(record_reader *r, const line_rules *rules,
                           scan_record *records, size_t capacity, size_t *count,
                           ksv_error *error)
{
    while (*count < capacity && !reader_batch_is_full(r)) {
        bool any;
        KSV_TRY(reader_cut_span(r, set_up_span, &any, error));
        if (!any)
            return KSV_OK;
        KSV_TRY(take_lines(r, rules, records, capacity, count, error));
        r->position = (size_t)(r->span->data - r->data) + r->span->start;
    }
    return KSV_OK;
}
