/* SPDX-License-Identifier: MIT */
/* Reads JSON lines: a value a line, the key is what member paths lead to. */
#include "base/error.h"
#include "scan/json_lines.h"
#include "scan/json_scanner.h"
#include "scan/json_shape.h"
#include "scan/line_spans.h"
#include "scan/line_splitter.h"
#include "scan/record_reader_private.h"

typedef struct jsonl_reader {
    record_reader base;
    line_splitter splitter;
    json_scanner *scanner;
    json_shape *shape;
    json_lines *lines;
} jsonl_reader;

static ksv_status jsonl_reader_open(record_reader *base, ksv_error *error)
{
    jsonl_reader *r = (jsonl_reader *)base;
    KSV_TRY(json_scanner_open(base->spec->parts, base->spec->part_count,
                              &base->allocator, &r->scanner, error));
    KSV_TRY(json_shape_open(base->spec->part_count, &base->allocator, &r->shape,
                            error));
    return json_lines_open(base->spec, &base->allocator, &r->lines, error);
}

static void jsonl_reader_close(record_reader *base)
{
    jsonl_reader *r = (jsonl_reader *)base;
    json_scanner_close(r->scanner);
    json_shape_close(r->shape);
    json_lines_close(r->lines);
}

static ksv_status jsonl_reader_begin(record_reader *base, bool in_middle,
                                     ksv_error *error)
{
    (void)error;
    jsonl_reader *r = (jsonl_reader *)base;
    line_splitter_init(&r->splitter, base->spec, in_middle);
    json_lines_begin(r->lines);
    return KSV_OK;
}

static ksv_status fail(const jsonl_reader *r, ksv_error *error)
{
    char fault[JSON_FAULT_TEXT_BYTES];
    bool is_cut = json_scanner_describe_fault(r->scanner, fault);
    const char *hint = is_cut ? "; one JSON value a line is needed (`jq -c .` "
                                "writes a document so, `jq -c '.[]'` an array)"
                              : "";
    return error_set_at(error, KSV_ERROR_DATA, NULL, r->splitter.line_offset,
                        "malformed JSON: %s%s", fault, hint);
}

static void set_part(jsonl_reader *r, size_t i, json_text text)
{
    part_value *part = &r->base.parts[i];
    part->data = text.data;
    part->size = text.size_bytes;
    part->copied = !text.is_borrowed;
}

static ksv_status finish_key(jsonl_reader *r, scan_record *record,
                             ksv_error *error)
{
    for (size_t i = 0; i < r->base.spec->part_count; i++)
        set_part(r, i, json_scanner_text(r->scanner, i));
    return reader_finish_key(&r->base, record, error);
}

/* The key of a line that is like the ones before; `*taken` is false, and
 * nothing has happened, when it is not. */
static ksv_status take_alike(jsonl_reader *r, const line_piece *piece,
                             scan_record *record, bool *taken, ksv_error *error)
{
    *taken = piece->begins && piece->ends &&
             json_shape_match(r->shape, piece->data, piece->size);
    if (!*taken)
        return KSV_OK;
    for (size_t i = 0; i < r->base.spec->part_count; i++)
        set_part(r, i, json_shape_text(r->shape, i));
    record->offset = r->splitter.line_offset;
    record->length = r->splitter.line_length;
    return reader_finish_key(&r->base, record, error);
}

/* `*given` is false for a blank line. */
static ksv_status finish_line(jsonl_reader *r, const line_piece *piece,
                              scan_record *record, bool *given,
                              ksv_error *error)
{
    json_outcome outcome = json_scanner_end(r->scanner);
    *given = outcome != JSON_BLANK;
    *record = (scan_record){.offset = r->splitter.line_offset,
                            .length = r->splitter.line_length,
                            .kind = SCAN_RECORD_BAD};
    if (outcome == JSON_VALUE && piece->begins)
        json_shape_note(r->shape, r->scanner, piece->data, piece->size);
    if (outcome == JSON_VALUE)
        return finish_key(r, record, error);
    if (outcome == JSON_MALFORMED && !r->base.skip_bad_records)
        return fail(r, error);
    return KSV_OK;
}

static ksv_status jsonl_reader_next(record_reader *base, scan_record *records,
                                    size_t capacity, size_t *count,
                                    ksv_error *error)
{
    jsonl_reader *r = (jsonl_reader *)base;
    bool many = reader_wants_many(capacity);
    while (*count < capacity && !reader_batch_is_full(base)) {
        if (many && line_splitter_is_between(&r->splitter)) {
            KSV_TRY(json_lines_take(r->lines, r->shape, base, records, capacity,
                                    count, error));
            if (*count == capacity || reader_batch_is_full(base))
                return KSV_OK;
        }
        line_piece piece;
        bool got;
        KSV_TRY(line_splitter_next(&r->splitter, base, &piece, &got, error));
        if (!got)
            return KSV_OK;
        bool given;
        KSV_TRY(take_alike(r, &piece, &records[*count], &given, error));
        *count += given;
        if (given)
            continue;
        if (piece.begins)
            json_scanner_begin(r->scanner);
        KSV_TRY(json_scanner_feed(r->scanner, piece.data, piece.size,
                                  !piece.ends, error));
        if (!piece.ends)
            continue;
        KSV_TRY(finish_line(r, &piece, &records[*count], &given, error));
        *count += given;
    }
    return KSV_OK;
}

const reader_ops jsonl_reader_ops = {
    .reader_bytes = sizeof(jsonl_reader),
    .open = jsonl_reader_open,
    .close = jsonl_reader_close,
    .begin = jsonl_reader_begin,
    .next = jsonl_reader_next,
};
