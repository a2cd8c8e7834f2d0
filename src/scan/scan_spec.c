/* SPDX-License-Identifier: MIT */
/* From a user's options to a specification that is known to be usable. */
#include "scan/scan_spec.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "scan/key_part.h"
#include "scan/scan_spec_private.h"

static ksv_status refuse(ksv_error *error, const char *text)
{
    return error_set(error, KSV_ERROR_ARGUMENT, NULL, "%s", text);
}

static bool is_byte(int value)
{
    return value >= 0 && value <= UINT8_MAX;
}

/* An option that the format has no use for is a mistake of the user. */
static ksv_status check_options_fit_format(const ksv_format_options *o,
                                           ksv_error *error)
{
    bool columns = format_has_columns(o->format);
    bool fixed = o->format == KSV_FORMAT_FIXED;
    const char *what = NULL;
    if (!columns && o->quote != KSV_BYTE_DEFAULT)
        what = "a quote (--quote) is for csv and tsv";
    else if (!columns && o->escape_backslash)
        what = "an escape (--escape) is for csv and tsv";
    else if (!columns && o->no_header)
        what = "'no header' (--no-header) is for csv and tsv";
    else if (!columns && o->format != KSV_FORMAT_LINES &&
             o->delimiter != KSV_BYTE_DEFAULT)
        what = "a delimiter (-d) is for csv, tsv and fields of lines";
    else if (!fixed && o->record_size > 0)
        what = "a record size (--record-size) is for fixed";
    else if (!fixed && o->keep_padding)
        what = "'keep padding' (--keep-padding) is for fixed";
    else if (o->record_size > 0 && o->record_end_cr)
        what = "records of a given size have no end bytes: --record-size and "
               "--record-end exclude each other";
    if (what == NULL)
        return KSV_OK;
    return error_set(error, KSV_ERROR_ARGUMENT, NULL, "%s; the format is %s",
                     what, ksv_format_name(o->format));
}

static ksv_status check_options(const ksv_format_options *o, ksv_error *error)
{
    if (o == NULL || o->format == KSV_FORMAT_NONE)
        return refuse(error, "no format is given");
    if (o->format < KSV_FORMAT_CSV || o->format > KSV_FORMAT_FIXED)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "format number %d is not known", (int)o->format);
    if (o->delimiter != KSV_BYTE_DEFAULT && !is_byte(o->delimiter))
        return refuse(error, "a delimiter is one byte");
    if (o->quote != KSV_BYTE_DEFAULT && o->quote != KSV_BYTE_NONE &&
        !is_byte(o->quote))
        return refuse(error, "a quote is one byte");
    if (o->key_count > 0 && o->keys == NULL)
        return refuse(error, "there are no keys where some are announced");
    return check_options_fit_format(o, error);
}

static scan_spec *spec_new(const ksv_allocator *allocator, size_t part_count)
{
    ksv_allocator a = allocator_or_default(allocator);
    scan_spec *spec = memory_zalloc(&a, sizeof *spec);
    if (spec == NULL)
        return NULL;
    spec->allocator = a;
    spec->quote = KSV_BYTE_NONE;
    spec->part_count = part_count;
    spec->parts = memory_zalloc_array(&a, part_count, sizeof *spec->parts);
    if (spec->parts != NULL)
        return spec;
    scan_spec_destroy(spec);
    return NULL;
}

ksv_status scan_spec_new(const ksv_allocator *allocator, size_t part_count,
                         scan_spec **out, ksv_error *error)
{
    *out = spec_new(allocator, part_count);
    return *out != NULL ? KSV_OK : error_set_memory(error);
}

void scan_spec_destroy(scan_spec *spec)
{
    if (spec == NULL)
        return;
    ksv_allocator a = spec->allocator;
    for (size_t i = 0; spec->parts != NULL && i < spec->part_count; i++)
        key_part_release(&a, &spec->parts[i]);
    memory_free(&a, spec->parts, spec->part_count * sizeof *spec->parts);
    memory_free_string(&a, spec->separator);
    memory_free_string(&a, spec->key_text);
    memory_free(&a, spec, sizeof *spec);
}

static ksv_status refuse_no_key(ksv_format format, ksv_error *error)
{
    const char *needed = "'bytes:A-B', such as 'bytes:5-10'";
    if (format_has_columns(format))
        needed = "a column name or a number from 1";
    else if (format == KSV_FORMAT_JSONL)
        needed = "a member name, such as 'id' or 'user.id'";
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "no key is given: for %s a key (-k) is %s",
                     ksv_format_name(format), needed);
}

static ksv_status parse_parts(scan_spec *spec, const ksv_format_options *o,
                              ksv_error *error)
{
    if (o->key_count == 0)
        return key_part_default(o->format, &spec->parts[0])
                   ? KSV_OK
                   : refuse_no_key(o->format, error);
    for (size_t i = 0; i < o->key_count; i++) {
        if (o->keys[i] == NULL)
            return refuse(error, "there are no keys where some are announced");
        KSV_TRY(key_part_parse(o->format, o->keys[i], &spec->allocator,
                               &spec->parts[i], error));
    }
    return KSV_OK;
}

static bool has_part(const scan_spec *spec, key_part_kind kind)
{
    for (size_t i = 0; i < spec->part_count; i++) {
        if (spec->parts[i].kind == kind)
            return true;
    }
    return false;
}

bool scan_spec_uses_delimiter(const scan_spec *spec)
{
    return format_has_columns(spec->format) ||
           (spec->format == KSV_FORMAT_LINES &&
            has_part(spec, KEY_PART_COLUMN_NUMBER));
}

static int byte_or(int given, int otherwise)
{
    return given == KSV_BYTE_DEFAULT ? otherwise : given;
}

static ksv_status take_options(scan_spec *spec, const ksv_format_options *o,
                               ksv_error *error)
{
    bool csv = o->format == KSV_FORMAT_CSV;
    spec->has_header = format_has_columns(o->format) && !o->no_header;
    if (format_has_columns(o->format))
        spec->quote = byte_or(o->quote, csv ? '"' : KSV_BYTE_NONE);
    if (scan_spec_uses_delimiter(spec))
        spec->delimiter = (uint8_t)byte_or(o->delimiter, csv ? ',' : '\t');
    else if (o->delimiter != KSV_BYTE_DEFAULT)
        return refuse(error, "a delimiter (-d) is of use only with a key "
                             "'field:N'");
    spec->escape_backslash = o->escape_backslash;
    spec->record_end_cr = o->record_end_cr;
    spec->keep_padding = o->keep_padding;
    spec->record_size = o->record_size;
    const char *separator = SCAN_SPEC_SEPARATOR;
    if (spec->part_count > 1 && o->key_separator != NULL)
        separator = o->key_separator;
    spec->separator =
        memory_copy_string(&spec->allocator, separator, strlen(separator));
    return spec->separator != NULL ? KSV_OK : error_set_memory(error);
}

static ksv_status check_delimiter(const scan_spec *spec, ksv_error *error)
{
    if (spec->delimiter == '\n' || spec->delimiter == '\r')
        return refuse(error, "a delimiter cannot be a line end");
    if (spec->quote == '\n' || spec->quote == '\r')
        return refuse(error, "a quote cannot be a line end");
    if (spec->quote == spec->delimiter)
        return refuse(error, "delimiter and quote are the same byte");
    if (!spec->escape_backslash)
        return KSV_OK;
    if (spec->quote == KSV_BYTE_NONE)
        return refuse(error, "a backslash escape needs a quote: give one "
                             "(--quote)");
    if (spec->quote == '\\' || spec->delimiter == '\\')
        return refuse(error, "a backslash cannot be escape and delimiter or "
                             "quote");
    return KSV_OK;
}

static ksv_status check_bytes(const scan_spec *spec, ksv_error *error)
{
    for (size_t i = 0; spec->record_size > 0 && i < spec->part_count; i++) {
        const key_part *part = &spec->parts[i];
        if (part->last > spec->record_size)
            return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                             "key 'bytes:%" PRIu64 "-%" PRIu64
                             "': a record has only %" PRIu64 " bytes",
                             part->first, part->last, spec->record_size);
    }
    return KSV_OK;
}

ksv_status scan_spec_check(const scan_spec *spec, ksv_error *error)
{
    if (format_has_columns(spec->format) && !spec->has_header &&
        has_part(spec, KEY_PART_COLUMN_NAME))
        return refuse(error, "a column name needs a header; without one a key "
                             "is a column number from 1");
    if (scan_spec_uses_delimiter(spec))
        KSV_TRY(check_delimiter(spec, error));
    return check_bytes(spec, error);
}

ksv_status scan_spec_describe(scan_spec *spec, ksv_error *error)
{
    byte_buffer text;
    buffer_init(&text, &spec->allocator);
    ksv_status status = KSV_OK;
    for (size_t i = 0; i < spec->part_count && status == KSV_OK; i++) {
        if (i > 0)
            status = buffer_append(&text, ", ", 2, error);
        if (status == KSV_OK)
            status =
                key_part_describe(&spec->parts[i], spec->format, &text, error);
    }
    if (status == KSV_OK) {
        spec->key_text = memory_copy_string(
            &spec->allocator, text.size > 0 ? (const char *)text.data : "",
            text.size);
        if (spec->key_text == NULL)
            status = error_set_memory(error);
    }
    buffer_release(&text);
    return status;
}

static ksv_status fill(scan_spec *spec, const ksv_format_options *options,
                       ksv_error *error)
{
    spec->format = options->format;
    KSV_TRY(parse_parts(spec, options, error));
    KSV_TRY(take_options(spec, options, error));
    KSV_TRY(scan_spec_check(spec, error));
    return scan_spec_describe(spec, error);
}

ksv_status scan_spec_create(const ksv_format_options *options,
                            const ksv_allocator *allocator, scan_spec **out,
                            ksv_error *error)
{
    *out = NULL;
    KSV_TRY(check_options(options, error));
    scan_spec *spec;
    size_t part_count = options->key_count > 0 ? options->key_count : 1;
    KSV_TRY(scan_spec_new(allocator, part_count, &spec, error));
    ksv_status status = fill(spec, options, error);
    if (status != KSV_OK) {
        scan_spec_destroy(spec);
        return status;
    }
    *out = spec;
    return KSV_OK;
}
