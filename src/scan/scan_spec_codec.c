/* SPDX-License-Identifier: MIT */
/* The stored form of a format and key specification. */
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "scan/key_part.h"
#include "scan/scan_spec_private.h"

#define SPEC_VERSION 1

#define SPEC_QUOTE 0x01u
#define SPEC_ESCAPE_BACKSLASH 0x02u
#define SPEC_HEADER 0x04u
#define SPEC_RECORD_END_CR 0x08u
#define SPEC_KEEP_PADDING 0x10u

/* The least that a part takes: kind, two numbers, the length of a text. */
#define PART_BYTES (1 + 8 + 8 + 4)

static uint8_t flags_of(const scan_spec *spec)
{
    unsigned flags = 0;
    if (spec->quote != KSV_BYTE_NONE)
        flags |= SPEC_QUOTE;
    if (spec->escape_backslash)
        flags |= SPEC_ESCAPE_BACKSLASH;
    if (spec->has_header)
        flags |= SPEC_HEADER;
    if (spec->record_end_cr)
        flags |= SPEC_RECORD_END_CR;
    if (spec->keep_padding)
        flags |= SPEC_KEEP_PADDING;
    return (uint8_t)flags;
}

static ksv_status encode_part(const key_part *part, byte_buffer *out,
                              ksv_error *error)
{
    KSV_TRY(buffer_put_u8(out, (uint8_t)part->kind, error));
    KSV_TRY(buffer_put_u64(out, part->first, error));
    KSV_TRY(buffer_put_u64(out, part->last, error));
    return buffer_put_bytes(out, part->text, part->text_bytes, error);
}

ksv_status scan_spec_encode(const scan_spec *spec, byte_buffer *out,
                            ksv_error *error)
{
    uint8_t quote = spec->quote == KSV_BYTE_NONE ? 0 : (uint8_t)spec->quote;
    KSV_TRY(buffer_put_u8(out, SPEC_VERSION, error));
    KSV_TRY(buffer_put_u8(out, (uint8_t)spec->format, error));
    KSV_TRY(buffer_put_u8(out, flags_of(spec), error));
    KSV_TRY(buffer_put_u8(out, spec->delimiter, error));
    KSV_TRY(buffer_put_u8(out, quote, error));
    KSV_TRY(buffer_put_u64(out, spec->record_size, error));
    KSV_TRY(
        buffer_put_bytes(out, spec->separator, strlen(spec->separator), error));
    KSV_TRY(buffer_put_u32(out, (uint32_t)spec->part_count, error));
    for (size_t i = 0; i < spec->part_count; i++)
        KSV_TRY(encode_part(&spec->parts[i], out, error));
    return KSV_OK;
}

static ksv_status corrupt(ksv_error *error)
{
    return error_set(error, KSV_ERROR_CORRUPT, NULL,
                     "the stored format and key specification is damaged");
}

static ksv_status decode_part(byte_cursor *c, const ksv_allocator *a,
                              key_part *part, ksv_error *error)
{
    part->kind = (key_part_kind)cursor_u8(c);
    part->first = cursor_u64(c);
    part->last = cursor_u64(c);
    size_t text_bytes;
    const uint8_t *text = cursor_bytes(c, &text_bytes);
    if (c->failed)
        return corrupt(error);
    part->text = memory_copy_string(a, (const char *)text, text_bytes);
    part->text_bytes = text_bytes;
    return part->text != NULL ? KSV_OK : error_set_memory(error);
}

typedef struct spec_head {
    uint8_t format;
    unsigned flags;
    uint8_t delimiter;
    uint8_t quote;
    uint64_t record_size;
    const char *separator;
    size_t separator_bytes;
    size_t part_count;
} spec_head;

static spec_head decode_head(byte_cursor *c)
{
    spec_head h = {0};
    h.format = cursor_u8(c);
    h.flags = cursor_u8(c);
    h.delimiter = cursor_u8(c);
    h.quote = cursor_u8(c);
    h.record_size = cursor_u64(c);
    h.separator = (const char *)cursor_bytes(c, &h.separator_bytes);
    h.part_count = cursor_u32(c);
    return h;
}

static ksv_status decode_parts(const spec_head *h, byte_cursor *c,
                               scan_spec *spec, ksv_error *error)
{
    spec->format = (ksv_format)h->format;
    spec->delimiter = h->delimiter;
    spec->quote = (h->flags & SPEC_QUOTE) != 0 ? h->quote : KSV_BYTE_NONE;
    spec->escape_backslash = (h->flags & SPEC_ESCAPE_BACKSLASH) != 0;
    spec->has_header = (h->flags & SPEC_HEADER) != 0;
    spec->record_end_cr = (h->flags & SPEC_RECORD_END_CR) != 0;
    spec->keep_padding = (h->flags & SPEC_KEEP_PADDING) != 0;
    spec->record_size = h->record_size;
    spec->separator =
        memory_copy_string(&spec->allocator, h->separator, h->separator_bytes);
    if (spec->separator == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < spec->part_count; i++)
        KSV_TRY(decode_part(c, &spec->allocator, &spec->parts[i], error));
    return KSV_OK;
}

/* Whether what has no meaning for the format is as scan_spec_create() leaves
 * it. */
static bool is_normal(const scan_spec *spec)
{
    bool fixed = spec->format == KSV_FORMAT_FIXED;
    if (!format_has_columns(spec->format) &&
        (spec->quote != KSV_BYTE_NONE || spec->escape_backslash ||
         spec->has_header))
        return false;
    if (!scan_spec_uses_delimiter(spec) && spec->delimiter != 0)
        return false;
    if (!fixed && (spec->record_size > 0 || spec->keep_padding))
        return false;
    if (spec->record_size > 0 && spec->record_end_cr)
        return false;
    return spec->part_count > 1 ||
           strcmp(spec->separator, SCAN_SPEC_SEPARATOR) == 0;
}

/* A regular expression is left to the reader that compiles it: what stands on
 * disk can make that slow. */
static ksv_status check_decoded(scan_spec *spec, const byte_cursor *rest,
                                ksv_error *error)
{
    if (!cursor_at_end(rest))
        return corrupt(error);
    for (size_t i = 0; i < spec->part_count; i++) {
        if (!key_part_is_valid(&spec->parts[i], spec->format))
            return corrupt(error);
    }
    if (!is_normal(spec) || scan_spec_check(spec, NULL) != KSV_OK)
        return corrupt(error);
    return scan_spec_describe(spec, error);
}

/* Decoding loses what has no meaning, so that only the true form survives. */
static ksv_status check_same_bytes(const scan_spec *spec, const void *data,
                                   size_t size_bytes, ksv_error *error)
{
    byte_buffer again;
    buffer_init(&again, &spec->allocator);
    ksv_status status = scan_spec_encode(spec, &again, error);
    if (status == KSV_OK &&
        (again.size != size_bytes || memcmp(again.data, data, size_bytes) != 0))
        status = corrupt(error);
    buffer_release(&again);
    return status;
}

ksv_status scan_spec_decode(const void *data, size_t size_bytes,
                            const ksv_allocator *allocator, scan_spec **out,
                            ksv_error *error)
{
    *out = NULL;
    byte_cursor c = cursor_over(data, size_bytes);
    uint8_t version = cursor_u8(&c);
    if (version > SPEC_VERSION)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "the stored key specification has version %u, this "
                         "program knows versions up to %u",
                         version, SPEC_VERSION);
    spec_head h = decode_head(&c);
    if (c.failed || h.part_count == 0 ||
        h.part_count > (size_t)(c.end - c.next) / PART_BYTES ||
        memchr(h.separator, '\0', h.separator_bytes) != NULL)
        return corrupt(error);
    scan_spec *spec;
    KSV_TRY(scan_spec_new(allocator, h.part_count, &spec, error));
    ksv_status status = decode_parts(&h, &c, spec, error);
    if (status == KSV_OK)
        status = check_decoded(spec, &c, error);
    if (status == KSV_OK)
        status = check_same_bytes(spec, data, size_bytes, error);
    if (status != KSV_OK) {
        scan_spec_destroy(spec);
        return status;
    }
    *out = spec;
    return KSV_OK;
}
