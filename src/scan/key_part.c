/* SPDX-License-Identifier: MIT */
/* Key specifications of all formats, from text and to text. */
#include "scan/key_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "scan/line_regex.h"

#define NAME_PREFIX "name:"
#define FIELD_PREFIX "field:"
#define BYTES_PREFIX "bytes:"
#define REGEX_PREFIX "regex:"

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool all_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i]))
            return false;
    }
    return length > 0;
}

/* A number from 1 at `*text`, which moves behind it. */
static bool take_number(const char **text, uint64_t *value)
{
    const char *p = *text;
    uint64_t v = 0;
    for (; is_digit(*p); p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *value = v;
    *text = p;
    return v > 0;
}

static ksv_status keep_text(const ksv_allocator *a, key_part *part,
                            const char *text, ksv_error *error)
{
    part->text_bytes = strlen(text);
    part->text = memory_copy_string(a, text, part->text_bytes);
    return part->text != NULL ? KSV_OK : error_set_memory(error);
}

static ksv_status parse_column(const char *text, const ksv_allocator *a,
                               key_part *part, ksv_error *error)
{
    if (text[0] == '\0')
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "key '': a column name or a number from 1 is needed "
                         "('name:' for a column without a name)");
    if (!all_digits(text, strlen(text))) {
        part->kind = KEY_PART_COLUMN_NAME;
        const char *name =
            begins_with(text, NAME_PREFIX) ? text + strlen(NAME_PREFIX) : text;
        return keep_text(a, part, name, error);
    }
    part->kind = KEY_PART_COLUMN_NUMBER;
    const char *p = text;
    if (take_number(&p, &part->first) && *p == '\0')
        return KSV_OK;
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "key '%.200s': columns are numbered from 1; for a column "
                     "of that name write 'name:%.200s'",
                     text, text);
}

static ksv_status parse_field(const char *text, key_part *part,
                              ksv_error *error)
{
    part->kind = KEY_PART_COLUMN_NUMBER;
    const char *p = text + strlen(FIELD_PREFIX);
    if (take_number(&p, &part->first) && *p == '\0')
        return KSV_OK;
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "key '%.200s': a number from 1 is needed after 'field:'",
                     text);
}

static ksv_status parse_bytes(const char *text, key_part *part,
                              ksv_error *error)
{
    part->kind = KEY_PART_BYTES;
    const char *p = text + strlen(BYTES_PREFIX);
    if (!take_number(&p, &part->first) || *p++ != '-' ||
        !take_number(&p, &part->last) || *p != '\0')
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "key '%.200s': two numbers from 1 are needed after "
                         "'bytes:', such as 'bytes:5-10'",
                         text);
    if (part->first > part->last)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "key '%.200s': the first byte lies behind the last, "
                         "'bytes:%" PRIu64 "-%" PRIu64 "' would be right",
                         text, part->last, part->first);
    return KSV_OK;
}

static ksv_status parse_regex(const char *text, const ksv_allocator *a,
                              key_part *part, ksv_error *error)
{
    part->kind = KEY_PART_REGEX;
    KSV_TRY(keep_text(a, part, text + strlen(REGEX_PREFIX), error));
    if (part->text_bytes == 0)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "key 'regex:': an extended regular expression is "
                         "needed after 'regex:'");
    return line_regex_check(part->text, error);
}

static ksv_status parse_line_key(const char *text, const ksv_allocator *a,
                                 key_part *part, ksv_error *error)
{
    if (begins_with(text, FIELD_PREFIX))
        return parse_field(text, part, error);
    if (begins_with(text, BYTES_PREFIX))
        return parse_bytes(text, part, error);
    if (begins_with(text, REGEX_PREFIX))
        return parse_regex(text, a, part, error);
    part->kind = KEY_PART_LINE;
    if (strcmp(text, "line") == 0)
        return KSV_OK;
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "key '%.200s': for lines a key is 'line', 'field:N', "
                     "'bytes:A-B' or 'regex:ERE'",
                     text);
}

static ksv_status parse_sequence_key(const char *text, ksv_format format,
                                     key_part *part, ksv_error *error)
{
    part->kind = strcmp(text, "header") == 0 ? KEY_PART_HEADER : KEY_PART_NAME;
    if (part->kind == KEY_PART_HEADER || strcmp(text, "name") == 0)
        return KSV_OK;
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "key '%.200s': for %s a key is 'name' (the first word of "
                     "the header line) or 'header'",
                     text, ksv_format_name(format));
}

static ksv_status parse_fixed_key(const char *text, key_part *part,
                                  ksv_error *error)
{
    if (begins_with(text, BYTES_PREFIX))
        return parse_bytes(text, part, error);
    return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                     "key '%.200s': for fixed records a key is 'bytes:A-B', "
                     "such as 'bytes:5-10'",
                     text);
}

ksv_status key_part_parse(ksv_format format, const char *text,
                          const ksv_allocator *a, key_part *part,
                          ksv_error *error)
{
    *part = (key_part){0};
    switch (format) {
    case KSV_FORMAT_CSV:
    case KSV_FORMAT_TSV:
        return parse_column(text, a, part, error);
    case KSV_FORMAT_LINES:
        return parse_line_key(text, a, part, error);
    case KSV_FORMAT_JSONL:
        return key_part_parse_member(text, a, part, error);
    case KSV_FORMAT_FASTA:
    case KSV_FORMAT_FASTQ:
        return parse_sequence_key(text, format, part, error);
    case KSV_FORMAT_FIXED:
        return parse_fixed_key(text, part, error);
    default:
        return error_set(error, KSV_ERROR_ARGUMENT, NULL, "no format is given");
    }
}

bool key_part_default(ksv_format format, key_part *part)
{
    *part = (key_part){0};
    switch (format) {
    case KSV_FORMAT_LINES:
        part->kind = KEY_PART_LINE;
        return true;
    case KSV_FORMAT_FASTA:
    case KSV_FORMAT_FASTQ:
        part->kind = KEY_PART_NAME;
        return true;
    default:
        return false;
    }
}

void key_part_release(const ksv_allocator *a, key_part *part)
{
    memory_free(a, part->text, part->text_bytes + 1);
    part->text = NULL;
}

static ksv_status describe_column(const key_part *part, byte_buffer *out,
                                  ksv_error *error)
{
    bool needs_prefix = part->text_bytes == 0 ||
                        all_digits(part->text, part->text_bytes) ||
                        begins_with(part->text, NAME_PREFIX);
    if (needs_prefix)
        KSV_TRY(buffer_append(out, NAME_PREFIX, strlen(NAME_PREFIX), error));
    return buffer_append(out, part->text, part->text_bytes, error);
}

ksv_status key_part_describe(const key_part *part, ksv_format format,
                             byte_buffer *out, ksv_error *error)
{
    char text[64] = "";
    switch (part->kind) {
    case KEY_PART_COLUMN_NAME:
        return describe_column(part, out, error);
    case KEY_PART_MEMBER:
        return key_part_describe_member(part, out, error);
    case KEY_PART_REGEX:
        KSV_TRY(buffer_append(out, REGEX_PREFIX, strlen(REGEX_PREFIX), error));
        return buffer_append(out, part->text, part->text_bytes, error);
    case KEY_PART_COLUMN_NUMBER:
        snprintf(text, sizeof text, "%s%" PRIu64,
                 format == KSV_FORMAT_LINES ? FIELD_PREFIX : "", part->first);
        break;
    case KEY_PART_BYTES:
        snprintf(text, sizeof text, BYTES_PREFIX "%" PRIu64 "-%" PRIu64,
                 part->first, part->last);
        break;
    case KEY_PART_LINE:
        snprintf(text, sizeof text, "line");
        break;
    case KEY_PART_NAME:
        snprintf(text, sizeof text, "name");
        break;
    case KEY_PART_HEADER:
        snprintf(text, sizeof text, "header");
        break;
    }
    return buffer_append(out, text, strlen(text), error);
}

static bool kind_fits_format(key_part_kind kind, ksv_format format)
{
    switch (kind) {
    case KEY_PART_COLUMN_NAME:
        return format == KSV_FORMAT_CSV || format == KSV_FORMAT_TSV;
    case KEY_PART_COLUMN_NUMBER:
        return format == KSV_FORMAT_CSV || format == KSV_FORMAT_TSV ||
               format == KSV_FORMAT_LINES;
    case KEY_PART_LINE:
    case KEY_PART_REGEX:
        return format == KSV_FORMAT_LINES;
    case KEY_PART_BYTES:
        return format == KSV_FORMAT_LINES || format == KSV_FORMAT_FIXED;
    case KEY_PART_MEMBER:
        return format == KSV_FORMAT_JSONL;
    case KEY_PART_NAME:
    case KEY_PART_HEADER:
        return format == KSV_FORMAT_FASTA || format == KSV_FORMAT_FASTQ;
    }
    return false;
}

bool key_part_is_valid(const key_part *part, ksv_format format)
{
    if (!kind_fits_format(part->kind, format))
        return false;
    bool has_nul =
        part->text_bytes > 0 && memchr(part->text, '\0', part->text_bytes);
    bool no_numbers = part->first == 0 && part->last == 0;
    switch (part->kind) {
    case KEY_PART_COLUMN_NAME:
        return no_numbers && !has_nul;
    case KEY_PART_REGEX:
        return no_numbers && !has_nul && part->text_bytes > 0;
    case KEY_PART_MEMBER:
        return no_numbers && part->text_bytes > 0 &&
               part->text[part->text_bytes - 1] == '\0';
    case KEY_PART_COLUMN_NUMBER:
        return part->first > 0 && part->last == 0 && part->text_bytes == 0;
    case KEY_PART_BYTES:
        return part->first > 0 && part->first <= part->last &&
               part->text_bytes == 0;
    default:
        return no_numbers && part->text_bytes == 0;
    }
}
