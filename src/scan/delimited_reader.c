/* SPDX-License-Identifier: MIT */
/* Reads csv and tsv: which records are taken at once, and which with care. */
#include "scan/delimited_reader.h"

#include <string.h>

#include "base/error.h"
#include "scan/byte_search.h"

/* So far ahead of a record quotes are looked for: what was seen is still in the
 * cache when the records are split. */
#define PLAIN_BLOCK_BYTES ((size_t)1 << 15)

static ksv_status delimited_open(record_reader *base, ksv_error *error)
{
    delimited_reader *r = (delimited_reader *)base;
    const scan_spec *spec = base->spec;
    r->delimiter = spec->delimiter;
    r->end_byte = spec->record_end_cr ? '\r' : '\n';
    r->has_quote = spec->quote != KSV_BYTE_NONE;
    r->quote = r->has_quote ? (uint8_t)spec->quote : 0;
    r->escapes = spec->escape_backslash;
    r->drops_cr = !spec->record_end_cr;
    r->kernels = structure_choose();
    r->order = memory_zalloc_array(&base->allocator, spec->part_count,
                                   sizeof *r->order);
    if (r->order == NULL)
        return error_set_memory(error);
    return column_search_open(r, error);
}

static void delimited_close(record_reader *base)
{
    delimited_reader *r = (delimited_reader *)base;
    memory_free(&base->allocator, r->order,
                base->spec->part_count * sizeof *r->order);
    column_search_close(r);
}

/* Sorts the parts by column; there are few. */
static void order_parts(delimited_reader *r)
{
    const uint64_t *columns = r->base.layout.columns;
    for (size_t i = 0; i < r->base.spec->part_count; i++) {
        size_t at = i;
        for (; at > 0 && columns[r->order[at - 1]] > columns[i]; at--)
            r->order[at] = r->order[at - 1];
        r->order[at] = i;
    }
    r->base.layout.column_count = r->base.spec->part_count;
}

static ksv_status begin_in_middle(delimited_reader *r, ksv_error *error)
{
    if (r->base.layout.column_count != r->base.spec->part_count)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "the stored layout of a data file is of another key");
    r->stage = DELIMITED_RECORDS;
    order_parts(r);
    return KSV_OK;
}

static ksv_status delimited_begin(record_reader *base, bool in_middle,
                                  ksv_error *error)
{
    delimited_reader *r = (delimited_reader *)base;
    const scan_spec *spec = base->spec;
    r->saw_end = in_middle || spec->record_end_cr;
    r->saw_cr = false;
    r->plain_end_offset = 0;
    r->at_special = false;
    r->state = FIELD_NO_RECORD;
    r->escaped = false;
    r->holds_cr = false;
    r->end_active = 0;
    if (in_middle)
        return begin_in_middle(r, error);
    for (size_t i = 0; i < spec->part_count; i++) {
        if (spec->parts[i].kind == KEY_PART_COLUMN_NUMBER)
            base->layout.columns[i] = spec->parts[i].first - 1;
    }
    column_search_begin(r);
    r->stage = spec->has_header ? DELIMITED_HEADER : DELIMITED_FIRST_RECORD;
    if (!spec->has_header)
        order_parts(r);
    return KSV_OK;
}

/* Moves `plain_end_offset` up to the next byte that needs care, or a block. */
static void look_ahead(delimited_reader *r)
{
    const record_reader *base = &r->base;
    uint64_t from = reader_offset(base);
    if (r->plain_end_offset > from)
        from = r->plain_end_offset;
    const uint8_t *start = base->data + (size_t)(from - base->window_offset);
    size_t size = (size_t)(base->data + base->size - start);
    if (!r->has_quote) {
        r->plain_end_offset = from + size;
        return;
    }
    if (size > PLAIN_BLOCK_BYTES)
        size = PLAIN_BLOCK_BYTES;
    const uint8_t *special = memchr(start, r->quote, size);
    if (special != NULL)
        size = (size_t)(special - start);
    if (r->escapes && size > 0) {
        const uint8_t *escape = memchr(start, '\\', size);
        if (escape != NULL) {
            special = escape;
            size = (size_t)(escape - start);
        }
    }
    r->at_special = special != NULL;
    r->plain_end_offset = from + size;
}

/* The end of the record that begins at the reader's position, if it lies in the
 * window and nothing before it needs care. */
static const uint8_t *find_plain_end(delimited_reader *r)
{
    const record_reader *base = &r->base;
    const uint8_t *from = base->data + base->position;
    uint64_t window_end_offset = base->window_offset + base->size;
    if (r->plain_end_offset < reader_offset(base))
        r->at_special = false;
    for (;;) {
        if (r->plain_end_offset > base->window_offset) {
            const uint8_t *until = base->data + (size_t)(r->plain_end_offset -
                                                         base->window_offset);
            if (until > from) {
                const uint8_t *end =
                    memchr(from, r->end_byte, (size_t)(until - from));
                if (end != NULL)
                    return end;
                from = until;
            }
        }
        if (r->at_special || r->plain_end_offset >= window_end_offset)
            return NULL;
        look_ahead(r);
    }
}

/* The key of a plain record when it is one column. */
static void take_column(const delimited_reader *r, const uint8_t *start,
                        const uint8_t *end, scan_record *record)
{
    record->kind = SCAN_RECORD_WITHOUT_KEY;
    for (uint64_t left = r->base.layout.columns[0]; left > 0; left--) {
        const uint8_t *found =
            memchr(start, r->delimiter, (size_t)(end - start));
        if (found == NULL)
            return;
        start = found + 1;
    }
    const uint8_t *found = memchr(start, r->delimiter, (size_t)(end - start));
    record->key = start;
    record->key_bytes = (size_t)((found != NULL ? found : end) - start);
    if (record->key_bytes > 0)
        record->kind = SCAN_RECORD_KEYED;
}

/* The same for several: in the order in which they stand in the record. */
static ksv_status take_columns(delimited_reader *r, const uint8_t *start,
                               const uint8_t *end, scan_record *record,
                               ksv_error *error)
{
    uint64_t field = 0;
    for (size_t i = 0; i < r->base.spec->part_count; i++) {
        size_t part = r->order[i];
        uint64_t column = r->base.layout.columns[part];
        for (; field < column && start != NULL; field++) {
            start = memchr(start, r->delimiter, (size_t)(end - start));
            if (start != NULL)
                start++;
        }
        if (start == NULL)
            break;
        const uint8_t *found =
            memchr(start, r->delimiter, (size_t)(end - start));
        part_begin(&r->base.parts[part]);
        KSV_TRY(part_add(&r->base.parts[part], start,
                         (size_t)((found != NULL ? found : end) - start),
                         error));
    }
    return reader_finish_key(&r->base, record, error);
}

/* Takes records as long as they lie in the window and need no care, when few
 * are asked for. */
static ksv_status take_plain_records(delimited_reader *r, scan_record *records,
                                     size_t capacity, size_t *count,
                                     ksv_error *error)
{
    record_reader *base = &r->base;
    bool single = base->spec->part_count == 1;
    while (*count < capacity && !reader_batch_is_full(base) &&
           base->position < base->size) {
        const uint8_t *start = base->data + base->position;
        const uint8_t *end = find_plain_end(r);
        if (end == NULL)
            return KSV_OK;
        scan_record *record = &records[*count];
        record->offset = reader_offset(base);
        base->position = (size_t)(end + 1 - base->data);
        if (r->drops_cr && end > start && end[-1] == '\r')
            end--;
        record->length = (uint64_t)(end - start);
        if (end == start)
            continue;
        if (single)
            take_column(r, start, end, record);
        else
            KSV_TRY(take_columns(r, start, end, record, error));
        ++*count;
    }
    return KSV_OK;
}

/* Gives records as long as that takes no care. */
static ksv_status take_records(delimited_reader *r, scan_record *records,
                               size_t capacity, size_t *count, ksv_error *error)
{
    if (reader_wants_many(capacity))
        return delimited_take_spans(r, records, capacity, count, error);
    if (r->base.position < r->base.size && delimited_take_single(r, records)) {
        ++*count;
        return KSV_OK;
    }
    return take_plain_records(r, records, capacity, count, error);
}

static void forget_record(delimited_reader *r)
{
    for (size_t i = 0; i < r->base.spec->part_count; i++)
        part_reset(&r->base.parts[i]);
}

static ksv_status finish_header(delimited_reader *r, ksv_error *error)
{
    KSV_TRY(column_search_finish(r, error));
    order_parts(r);
    r->base.layout.header_offset = r->record_offset;
    r->base.layout.header_length = r->record_length;
    r->stage = DELIMITED_RECORDS;
    return KSV_OK;
}

static ksv_status finish_record(delimited_reader *r, scan_record *records,
                                size_t *count, ksv_error *error)
{
    if (r->record_length == 0) {
        forget_record(r);
        if (r->stage == DELIMITED_HEADER)
            column_search_begin(r);
        return KSV_OK;
    }
    if (r->stage == DELIMITED_HEADER)
        return finish_header(r, error);
    if (r->stage == DELIMITED_FIRST_RECORD)
        KSV_TRY(delimited_check_width(r, "first record", error));
    r->stage = DELIMITED_RECORDS;
    scan_record *record = &records[*count];
    record->offset = r->record_offset;
    record->length = r->record_length;
    KSV_TRY(reader_finish_key(&r->base, record, error));
    ++*count;
    return KSV_OK;
}

/* What is left of the content, from the record with the open quote on. */
static void give_bad_rest(delimited_reader *r, scan_record *records,
                          size_t *count)
{
    scan_record *record = &records[*count];
    record->kind = SCAN_RECORD_BAD;
    record->offset = r->record_offset;
    record->length = reader_offset(&r->base) - r->record_offset;
    record->key = NULL;
    record->key_bytes = 0;
    ++*count;
    forget_record(r);
    r->state = FIELD_NO_RECORD;
}

static ksv_status delimited_next(record_reader *base, scan_record *records,
                                 size_t capacity, size_t *count,
                                 ksv_error *error)
{
    delimited_reader *r = (delimited_reader *)base;
    while (*count < capacity && !reader_batch_is_full(base)) {
        if (r->stage == DELIMITED_RECORDS && r->state == FIELD_NO_RECORD) {
            KSV_TRY(take_records(r, records, capacity, count, error));
            if (*count == capacity || reader_batch_is_full(base))
                return KSV_OK;
        }
        bool ended;
        ksv_status status = delimited_read_fields(r, &ended, error);
        if (status == KSV_ERROR_DATA && r->state == FIELD_QUOTED &&
            base->skip_bad_records) {
            give_bad_rest(r, records, count);
            return KSV_OK;
        }
        KSV_TRY(status);
        if (!ended)
            return KSV_OK;
        KSV_TRY(finish_record(r, records, count, error));
    }
    return KSV_OK;
}

const reader_ops delimited_reader_ops = {
    .reader_bytes = sizeof(delimited_reader),
    .open = delimited_open,
    .close = delimited_close,
    .begin = delimited_begin,
    .next = delimited_next,
};
