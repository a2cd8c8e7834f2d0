/* SPDX-License-Identifier: MIT */
/* Reads csv and tsv field by field, with quotes, escapes and straddling. */
#include <string.h>

#include "base/error.h"
#include "scan/byte_search.h"
#include "scan/delimited_reader.h"
#include "scan/line_splitter.h"

static const uint8_t CARRIAGE_RETURN[1] = {'\r'};
static const uint8_t BACKSLASH[1] = {'\\'};

/* The bytes are the next ones of the value of the field. */
static ksv_status add(delimited_reader *r, const uint8_t *data, size_t size,
                      ksv_error *error)
{
    if (r->stage == DELIMITED_HEADER)
        return column_search_add(r, data, size, error);
    for (size_t i = r->first_active; i < r->end_active; i++)
        KSV_TRY(part_add(&r->base.parts[r->order[i]], data, size, error));
    return KSV_OK;
}

static void begin_field(delimited_reader *r)
{
    r->state = FIELD_START;
    r->first_active = r->end_active;
    if (r->stage == DELIMITED_HEADER)
        return;
    const uint64_t *columns = r->base.layout.columns;
    while (r->end_active < r->base.spec->part_count &&
           columns[r->order[r->end_active]] == r->field)
        part_begin(&r->base.parts[r->order[r->end_active++]]);
}

static void begin_record(delimited_reader *r)
{
    r->record_offset = reader_offset(&r->base);
    r->field = 0;
    r->end_active = 0;
    begin_field(r);
}

static ksv_status end_field(delimited_reader *r, ksv_error *error)
{
    return r->stage == DELIMITED_HEADER ? column_search_end_cell(r, error)
                                        : KSV_OK;
}

static ksv_status end_record(delimited_reader *r, uint64_t end_offset,
                             ksv_error *error)
{
    r->record_length = end_offset - r->record_offset;
    r->state = FIELD_NO_RECORD;
    return end_field(r, error);
}

static void note_lone_cr(delimited_reader *r, uint64_t offset)
{
    if (!r->saw_cr)
        r->cr_offset = offset;
    r->saw_cr = true;
}

/* Adds bytes of the window that are outside quotes. */
static ksv_status add_plain(delimited_reader *r, const uint8_t *data,
                            size_t size, ksv_error *error)
{
    if (!r->saw_end && !r->saw_cr && size > 0) {
        const uint8_t *cr = memchr(data, '\r', size);
        if (cr != NULL)
            note_lone_cr(r,
                         r->base.window_offset + (uint64_t)(cr - r->base.data));
    }
    return add(r, data, size, error);
}

/* Behind a CR that ended a window. */
static ksv_status read_after_cr(delimited_reader *r, bool *ended,
                                ksv_error *error)
{
    r->holds_cr = false;
    record_reader *base = &r->base;
    if (base->position < base->size &&
        base->data[base->position] == r->end_byte) {
        uint64_t cr_offset = reader_offset(base) - 1;
        base->position++;
        r->saw_end = true;
        *ended = true;
        return end_record(r, cr_offset, error);
    }
    if (!r->saw_end)
        note_lone_cr(r, reader_offset(base) - 1);
    return add(r, CARRIAGE_RETURN, 1, error);
}

/* Behind a backslash outside quotes, which does not escape a line end. */
static ksv_status read_escaped_plain(delimited_reader *r, ksv_error *error)
{
    r->escaped = false;
    const uint8_t *next = r->base.data + r->base.position;
    if (*next == '\n' || *next == '\r')
        return add(r, BACKSLASH, 1, error);
    r->base.position++;
    return add(r, next, 1, error);
}

/* Outside quotes up to the next delimiter, end of record or escape. */
static ksv_status read_plain(delimited_reader *r, bool *ended, ksv_error *error)
{
    record_reader *base = &r->base;
    if (r->holds_cr)
        return read_after_cr(r, ended, error);
    if (r->escaped)
        return read_escaped_plain(r, error);
    const uint8_t *start = base->data + base->position;
    const uint8_t *limit = base->data + base->size;
    const uint8_t *end =
        find_byte_of_3(start, limit, r->delimiter, r->end_byte,
                       r->escapes ? (uint8_t)'\\' : r->delimiter);
    size_t size = (size_t)(end - start);
    bool may_end = end == limit || *end == r->end_byte;
    bool cr = may_end && r->drops_cr && size > 0 && start[size - 1] == '\r';
    if (cr)
        size--;
    KSV_TRY(add_plain(r, start, size, error));
    if (end == limit) {
        base->position = base->size;
        r->holds_cr = cr;
        return KSV_OK;
    }
    base->position = (size_t)(end + 1 - base->data);
    if (*end == r->end_byte) {
        r->saw_end = true;
        *ended = true;
        return end_record(
            r, base->window_offset + (uint64_t)(start + size - base->data),
            error);
    }
    if (*end != r->delimiter) {
        r->escaped = true;
        return KSV_OK;
    }
    KSV_TRY(end_field(r, error));
    r->field++;
    begin_field(r);
    return KSV_OK;
}

/* Inside quotes up to the next quote or escape. */
static ksv_status read_quoted(delimited_reader *r, ksv_error *error)
{
    record_reader *base = &r->base;
    const uint8_t *start = base->data + base->position;
    if (r->escaped) {
        r->escaped = false;
        base->position++;
        return add(r, start, 1, error);
    }
    const uint8_t *limit = base->data + base->size;
    const uint8_t *end;
    if (r->escapes)
        end = find_byte_of_3(start, limit, r->quote, '\\', '\\');
    else if ((end = memchr(start, r->quote, (size_t)(limit - start))) == NULL)
        end = limit;
    base->position = (size_t)(end - base->data);
    if (end < limit) {
        base->position++;
        if (*end != r->quote)
            r->escaped = true;
        else
            r->state = r->escapes ? FIELD_PLAIN : FIELD_QUOTE_IN_QUOTED;
    }
    return add(r, start, (size_t)(end - start), error);
}

static ksv_status read_after_quote(delimited_reader *r, ksv_error *error)
{
    const uint8_t *next = r->base.data + r->base.position;
    r->state = FIELD_PLAIN;
    if (*next != r->quote)
        return KSV_OK;
    r->state = FIELD_QUOTED;
    r->base.position++;
    return add(r, next, 1, error);
}

static void read_field_start(delimited_reader *r)
{
    r->state = FIELD_PLAIN;
    if (!r->has_quote || r->base.data[r->base.position] != r->quote)
        return;
    r->state = FIELD_QUOTED;
    r->quote_offset = reader_offset(&r->base);
    r->base.position++;
}

/* The content ends inside a record. */
static ksv_status read_end(delimited_reader *r, ksv_error *error)
{
    if (r->state == FIELD_QUOTED)
        return error_set_at(error, KSV_ERROR_DATA, NULL, r->quote_offset,
                            "quoted field is not closed before the end of the "
                            "file");
    bool ended = false;
    if (r->holds_cr)
        KSV_TRY(read_after_cr(r, &ended, error));
    if (r->escaped)
        KSV_TRY(add(r, BACKSLASH, 1, error));
    r->escaped = false;
    if (!r->saw_end && r->saw_cr)
        return line_splitter_refuse_lone_cr(r->cr_offset, error);
    return end_record(r, reader_offset(&r->base), error);
}

ksv_status delimited_read_fields(delimited_reader *r, bool *ended,
                                 ksv_error *error)
{
    *ended = false;
    while (!*ended && r->base.position < r->base.size) {
        switch (r->state) {
        case FIELD_NO_RECORD:
            begin_record(r);
            break;
        case FIELD_START:
            read_field_start(r);
            break;
        case FIELD_PLAIN:
            KSV_TRY(read_plain(r, ended, error));
            break;
        case FIELD_QUOTED:
            KSV_TRY(read_quoted(r, error));
            break;
        case FIELD_QUOTE_IN_QUOTED:
            KSV_TRY(read_after_quote(r, error));
            break;
        }
    }
    if (*ended || !r->base.last || r->state == FIELD_NO_RECORD)
        return KSV_OK;
    *ended = true;
    return read_end(r, error);
}
