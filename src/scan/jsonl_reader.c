/* SPDX-License-Identifier: MIT */
/* Reads JSON lines: a value a line, the key is what member paths lead to. */
#include "base/error.h"
#include "scan/json_scanner.h"
#include "scan/line_splitter.h"
#include "scan/record_reader_private.h"

typedef struct jsonl_reader {
    record_reader base;
    line_splitter splitter;
    json_scanner *scanner;
} jsonl_reader;

static ksv_status jsonl_reader_open(record_reader *base, ksv_error *error)
{
    jsonl_reader *r = (jsonl_reader *)base;
    return json_scanner_open(base->spec->parts, base->spec->part_count,
                             &base->allocator, &r->scanner, error);
}

static void jsonl_reader_close(record_reader *base)
{
    json_scanner_close(((jsonl_reader *)base)->scanner);
}

static ksv_status jsonl_reader_begin(record_reader *base, bool in_middle,
                                     ksv_error *error)
{
    (void)error;
    jsonl_reader *r = (jsonl_reader *)base;
    line_splitter_init(&r->splitter, base->spec, in_middle);
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

static ksv_status finish_key(jsonl_reader *r, scan_record *record,
                             ksv_error *error)
{
    for (size_t i = 0; i < r->base.spec->part_count; i++) {
        json_text text = json_scanner_text(r->scanner, i);
        part_value *part = &r->base.parts[i];
        part->data = text.data;
        part->size = text.size_bytes;
        part->copied = !text.is_borrowed;
    }
    return reader_finish_key(&r->base, record, error);
}

/* `*given` is false for a blank line. */
static ksv_status finish_line(jsonl_reader *r, scan_record *record, bool *given,
                              ksv_error *error)
{
    json_outcome outcome = json_scanner_end(r->scanner);
    *given = outcome != JSON_BLANK;
    *record = (scan_record){.offset = r->splitter.line_offset,
                            .length = r->splitter.line_length,
                            .kind = SCAN_RECORD_BAD};
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
    while (*count < capacity && !reader_batch_is_full(base)) {
        line_piece piece;
        bool got;
        KSV_TRY(line_splitter_next(&r->splitter, base, &piece, &got, error));
        if (!got)
            return KSV_OK;
        if (piece.begins)
            json_scanner_begin(r->scanner);
        KSV_TRY(json_scanner_feed(r->scanner, piece.data, piece.size,
                                  !piece.ends, error));
        if (!piece.ends)
            continue;
        bool given;
        KSV_TRY(finish_line(r, &records[*count], &given, error));
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
