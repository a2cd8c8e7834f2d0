/* SPDX-License-Identifier: MIT */
/* Reads lines: the key is the line, a field, a byte range or a match in it. */
#include <string.h>

#include "base/error.h"
#include "scan/line_regex.h"
#include "scan/line_spans.h"
#include "scan/line_splitter.h"
#include "scan/record_reader_private.h"

/* Where a part is in the line being read. */
typedef struct line_part {
    uint64_t fields_before; /* field:N: delimiters still to come */
    bool done;              /* field:N: its end was seen */
    line_regex *regex;      /* regex:ERE */
} line_part;

typedef struct line_reader {
    record_reader base;
    line_splitter splitter;
    line_part *parts;
    bool has_regex;
    part_value line; /* the whole line, for regular expressions */
} line_reader;

static ksv_status open_regexes(line_reader *r, ksv_error *error)
{
    const scan_spec *spec = r->base.spec;
    for (size_t i = 0; i < spec->part_count; i++) {
        if (spec->parts[i].kind != KEY_PART_REGEX)
            continue;
        r->has_regex = true;
        KSV_TRY(line_regex_open(spec->parts[i].text, &r->base.allocator,
                                &r->parts[i].regex, error));
    }
    return KSV_OK;
}

static ksv_status line_reader_open(record_reader *base, ksv_error *error)
{
    line_reader *r = (line_reader *)base;
    buffer_init(&r->line.copy, &base->allocator);
    r->parts = memory_zalloc_array(&base->allocator, base->spec->part_count,
                                   sizeof *r->parts);
    if (r->parts == NULL)
        return error_set_memory(error);
    return open_regexes(r, error);
}

static void line_reader_close(record_reader *base)
{
    line_reader *r = (line_reader *)base;
    size_t count = base->spec->part_count;
    for (size_t i = 0; r->parts != NULL && i < count; i++)
        line_regex_close(r->parts[i].regex);
    memory_free(&base->allocator, r->parts, count * sizeof *r->parts);
    if (r->line.copy.allocator != NULL)
        part_release(&r->line);
}

static ksv_status line_reader_begin(record_reader *base, bool in_middle,
                                    ksv_error *error)
{
    (void)error;
    line_reader *r = (line_reader *)base;
    line_splitter_init(&r->splitter, base->spec, in_middle);
    part_reset(&r->line);
    return KSV_OK;
}

static ksv_status line_reader_hold(record_reader *base, ksv_error *error)
{
    return part_hold(&((line_reader *)base)->line, error);
}

/* Adds what of a piece belongs to the field. */
static ksv_status add_field(line_part *part, uint8_t delimiter,
                            const uint8_t *data, size_t size, part_value *value,
                            ksv_error *error)
{
    const uint8_t *end = data + size;
    while (part->fields_before > 0) {
        const uint8_t *found =
            size > 0 ? memchr(data, delimiter, (size_t)(end - data)) : NULL;
        if (found == NULL)
            return KSV_OK;
        data = found + 1;
        part->fields_before--;
    }
    size_t left = (size_t)(end - data);
    if (part->done || left == 0)
        return KSV_OK;
    const uint8_t *found = memchr(data, delimiter, left);
    part->done = found != NULL;
    return part_add(value, data, part->done ? (size_t)(found - data) : left,
                    error);
}

/* `before`: bytes of the line before this piece. */
static ksv_status add_piece(line_reader *r, const line_piece *piece,
                            uint64_t before, ksv_error *error)
{
    const scan_spec *spec = r->base.spec;
    for (size_t i = 0; i < spec->part_count; i++) {
        const key_part *part = &spec->parts[i];
        part_value *value = &r->base.parts[i];
        if (piece->begins && part->kind == KEY_PART_COLUMN_NUMBER) {
            r->parts[i].fields_before = part->first - 1;
            r->parts[i].done = false;
        }
        if (part->kind == KEY_PART_LINE)
            KSV_TRY(part_add(value, piece->data, piece->size, error));
        else if (part->kind == KEY_PART_BYTES)
            KSV_TRY(part_add_range(value, part, before, piece->data,
                                   piece->size, error));
        else if (part->kind == KEY_PART_COLUMN_NUMBER)
            KSV_TRY(add_field(&r->parts[i], spec->delimiter, piece->data,
                              piece->size, value, error));
    }
    if (r->has_regex)
        KSV_TRY(part_add(&r->line, piece->data, piece->size, error));
    return KSV_OK;
}

static ksv_status match_line(line_reader *r, uint64_t line_offset,
                             ksv_error *error)
{
    const scan_spec *spec = r->base.spec;
    for (size_t i = 0; i < spec->part_count; i++) {
        line_regex *regex = r->parts[i].regex;
        if (regex == NULL)
            continue;
        bool matches;
        size_t start;
        size_t size;
        KSV_TRY(line_regex_find(regex, r->line.data, r->line.size, line_offset,
                                &matches, &start, &size, error));
        if (matches && size > 0) {
            part_value *value = &r->base.parts[i];
            KSV_TRY(part_add(value, r->line.data + start, size, error));
            value->copied = r->line.copied;
        }
    }
    part_reset(&r->line);
    return KSV_OK;
}

static void give_bad_line(line_reader *r, scan_record *record)
{
    for (size_t i = 0; i < r->base.spec->part_count; i++)
        part_reset(&r->base.parts[i]);
    part_reset(&r->line);
    record->kind = SCAN_RECORD_BAD;
    record->key = NULL;
    record->key_bytes = 0;
}

static ksv_status finish_line(line_reader *r, scan_record *record,
                              ksv_error *error)
{
    record->offset = r->splitter.line_offset;
    record->length = r->splitter.line_length;
    if (r->has_regex) {
        ksv_status status = match_line(r, record->offset, error);
        if (status == KSV_ERROR_DATA && r->base.skip_bad_records) {
            give_bad_line(r, record);
            return KSV_OK;
        }
        KSV_TRY(status);
    }
    return reader_finish_key(&r->base, record, error);
}

static ksv_status line_reader_next(record_reader *base, scan_record *records,
                                   size_t capacity, size_t *count,
                                   ksv_error *error)
{
    static const line_rules RULES = {false, false};
    line_reader *r = (line_reader *)base;
    bool many = reader_wants_many(capacity) && !r->has_regex;
    while (*count < capacity && !reader_batch_is_full(base)) {
        if (many && line_splitter_is_between(&r->splitter)) {
            KSV_TRY(
                line_spans_take(base, &RULES, records, capacity, count, error));
            if (*count == capacity || reader_batch_is_full(base))
                return KSV_OK;
        }
        line_piece piece;
        bool got;
        KSV_TRY(line_splitter_next(&r->splitter, base, &piece, &got, error));
        if (!got)
            return KSV_OK;
        KSV_TRY(
            add_piece(r, &piece, r->splitter.line_length - piece.size, error));
        if (!piece.ends)
            continue;
        KSV_TRY(finish_line(r, &records[*count], error));
        ++*count;
    }
    return KSV_OK;
}

const reader_ops line_reader_ops = {
    .reader_bytes = sizeof(line_reader),
    .open = line_reader_open,
    .close = line_reader_close,
    .begin = line_reader_begin,
    .next = line_reader_next,
    .hold = line_reader_hold,
};
