/* SPDX-License-Identifier: MIT */
/* A found record on standard output, in each of its forms. */
#include "record_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "byte_buffer.h"
#include "json.h"

#define PIECE_BYTES ((size_t)1 << 20)

/* What is done with each piece of a record; false stops. */
typedef bool (*piece_fn)(void *ctx, const void *data, size_t size_bytes);

static bool fail_short(const ksv_record *record, ksv_error *error)
{
    *error = (ksv_error){.status = KSV_ERROR_STALE,
                         .remedy = KSV_REMEDY_UPDATE,
                         .byte_offset = record->offset};
    snprintf(error->path, sizeof error->path, "%s", record->file);
    snprintf(error->text, sizeof error->text, "the record ends too early");
    return false;
}

static bool visit_read_pieces(const ksv_record *record, piece_fn visit,
                              void *ctx, ksv_error *error)
{
    char *piece = resize_memory(NULL, PIECE_BYTES, 1);
    uint64_t position = 0;
    bool good = true;
    while (good && position < record->length) {
        size_t got_bytes = 0;
        uint64_t left = record->length - position;
        size_t wanted = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        if (ksv_record_read(record, position, piece, wanted, &got_bytes,
                            error) != KSV_OK)
            good = false;
        else if (got_bytes == 0)
            good = fail_short(record, error);
        else if (!visit(ctx, piece, got_bytes))
            break;
        position += got_bytes;
    }
    free(piece);
    return good;
}

static bool visit_pieces(const ksv_record *record, piece_fn visit, void *ctx,
                         ksv_error *error)
{
    if (record->data == NULL)
        return visit_read_pieces(record, visit, ctx, error);
    visit(ctx, record->data, (size_t)record->length);
    return true;
}

static bool write_piece(void *ctx, const void *data, size_t size_bytes)
{
    output_add(ctx, data, size_bytes);
    return output_is_good(ctx);
}

bool record_output_bytes(output *out, const ksv_record *record,
                         ksv_error *error)
{
    return visit_pieces(record, write_piece, out, error);
}

void record_output_location(output *out, const ksv_record *record)
{
    output_add(out, record->key, record->key_bytes);
    output_add_byte(out, '\t');
    output_add_text(out, record->file);
    output_add_byte(out, '\t');
    output_add_number(out, record->offset);
    output_add_byte(out, '\t');
    output_add_number(out, record->length);
    output_add_byte(out, '\n');
}

void record_output_key(output *out, const void *key, size_t key_bytes,
                       bool as_json, bool nul_ended)
{
    if (as_json) {
        output_add_byte(out, '{');
        json_add_bytes(out, true, "key", key, key_bytes);
        output_add_text(out, ",\"found\":true}\n");
        return;
    }
    output_add(out, key, key_bytes);
    output_add_byte(out, nul_ended ? '\0' : '\n');
}

void record_output_count(output *out, const void *key, size_t key_bytes,
                         uint64_t count, bool as_json)
{
    if (as_json) {
        output_add_byte(out, '{');
        json_add_bytes(out, true, "key", key, key_bytes);
        json_add_number(out, false, "count", count);
        output_add_text(out, "}\n");
        return;
    }
    output_add(out, key, key_bytes);
    output_add_byte(out, '\t');
    output_add_number(out, count);
    output_add_byte(out, '\n');
}

static bool check_piece(void *ctx, const void *data, size_t size_bytes)
{
    json_utf8 *check = ctx;
    json_utf8_add(check, data, size_bytes);
    return !check->is_bad;
}

static bool escape_piece(void *ctx, const void *data, size_t size_bytes)
{
    json_add_escaped(ctx, data, size_bytes);
    return output_is_good(ctx);
}

typedef struct base64_target {
    json_base64 state;
    output *out;
} base64_target;

static bool encode_piece(void *ctx, const void *data, size_t size_bytes)
{
    base64_target *encoding = ctx;
    json_base64_add(&encoding->state, encoding->out, data, size_bytes);
    return output_is_good(encoding->out);
}

/* Two passes: the name of the member depends on the last byte too. */
static bool add_record(output *out, const ksv_record *record, bool is_text,
                       ksv_error *error)
{
    bool good;
    if (is_text) {
        output_add_text(out, ",\"record\":\"");
        good = visit_pieces(record, escape_piece, out, error);
    } else {
        base64_target encoding = {.out = out};
        output_add_text(out, ",\"record_base64\":\"");
        good = visit_pieces(record, encode_piece, &encoding, error);
        json_base64_finish(&encoding.state, out);
    }
    output_add_byte(out, '"');
    return good;
}

bool record_output_json(output *out, const ksv_record *record, bool with_bytes,
                        ksv_error *error)
{
    json_utf8 check = {0};
    if (with_bytes && !visit_pieces(record, check_piece, &check, error))
        return false;
    output_add_byte(out, '{');
    json_add_bytes(out, true, "key", record->key, record->key_bytes);
    json_add_text(out, false, "file", record->file);
    json_add_number(out, false, "offset", record->offset);
    json_add_number(out, false, "length", record->length);
    bool good = !with_bytes ||
                add_record(out, record, json_utf8_is_good(&check), error);
    output_add_text(out, "}\n");
    return good;
}
