/* SPDX-License-Identifier: MIT */
/* The options that say how data files are read and where keys stand. */
#include "format_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"

void format_arguments_open(format_arguments *format)
{
    *format = (format_arguments){0};
    ksv_format_options_init(&format->options);
}

void format_arguments_close(format_arguments *format)
{
    free(format->keys);
}

bool format_arguments_is_empty(const format_arguments *format)
{
    return format->options.format == KSV_FORMAT_NONE &&
           format->key_count == 0 && !format->has_dialect;
}

/* One byte, or the two characters \t. */
static bool take_byte(command_line *cli, const char *option, const char *value,
                      int *byte)
{
    if (strcmp(value, "\\t") == 0)
        value = "\t";
    if (strlen(value) != 1)
        return cli_fail(cli, "%s needs one byte, not '%s'", option, value);
    if (*value == '\n' || *value == '\r')
        return cli_fail(cli, "%s cannot be a line end", option);
    *byte = (unsigned char)*value;
    return true;
}

static bool take_format(format_arguments *format, command_line *cli,
                        const char *value)
{
    format->options.format = ksv_format_from_name(value);
    if (format->options.format != KSV_FORMAT_NONE)
        return true;
    return cli_fail(cli,
                    "--format is one of csv, tsv, jsonl, lines, fasta, fastq, "
                    "fixed, not '%s'",
                    value);
}

static bool take_key(format_arguments *format, command_line *cli,
                     const char *value)
{
    if (value[0] == '\0')
        return cli_fail(cli, "--key needs a column, member or place");
    format->keys = buffer_resize_memory(format->keys, format->key_count + 1,
                                        sizeof format->keys[0]);
    format->keys[format->key_count++] = value;
    return true;
}

static bool take_quote(format_arguments *format, command_line *cli,
                       const char *value)
{
    if (strcmp(value, "none") != 0)
        return take_byte(cli, "--quote", value, &format->options.quote);
    format->options.quote = KSV_BYTE_NONE;
    return true;
}

static bool take_record_size(format_arguments *format, command_line *cli,
                             const char *value)
{
    return cli_parse_number(cli, "--record-size", value, 1, UINT64_C(1) << 40,
                            &format->options.record_size);
}

static bool take_dialect(format_arguments *format, command_line *cli, int id,
                         const char *value, bool *is_taken)
{
    ksv_format_options *options = &format->options;
    int choice;
    switch (id) {
    case FORMAT_KEY_SEPARATOR:
        options->key_separator = strcmp(value, "\\t") == 0 ? "\t" : value;
        return true;
    case 'd':
        return take_byte(cli, "--delimiter", value, &options->delimiter);
    case FORMAT_QUOTE:
        return take_quote(format, cli, value);
    case FORMAT_ESCAPE:
        if (!cli_parse_choice(cli, "--escape", value, "backslash,double",
                              &choice))
            return false;
        options->escape_backslash = choice == 0;
        return true;
    case FORMAT_NO_HEADER:
        options->no_header = true;
        return true;
    case FORMAT_RECORD_END:
        if (!cli_parse_choice(cli, "--record-end", value, "lf,cr", &choice))
            return false;
        options->record_end_cr = choice == 1;
        return true;
    case FORMAT_RECORD_SIZE:
        return take_record_size(format, cli, value);
    case FORMAT_KEEP_PADDING:
        options->keep_padding = true;
        return true;
    default:
        *is_taken = false;
        return true;
    }
}

bool format_arguments_take(format_arguments *format, command_line *cli, int id,
                           const char *value, bool *is_taken)
{
    *is_taken = true;
    if (id == 'f')
        return take_format(format, cli, value);
    if (id == 'k')
        return take_key(format, cli, value);
    bool good = take_dialect(format, cli, id, value, is_taken);
    format->has_dialect = format->has_dialect || *is_taken;
    return good;
}

/* Names that tell different formats are a mistake: an index has one. */
static bool find_format(format_arguments *format, command_line *cli,
                        const char *const *files, size_t file_count)
{
    ksv_format first = ksv_format_of_name(files[0]);
    for (size_t i = 1; i < file_count; i++) {
        ksv_format other = ksv_format_of_name(files[i]);
        if (other != KSV_FORMAT_NONE && other != first)
            return cli_fail(cli,
                            "by their names %s is %s, but %s is %s: give the "
                            "one format of the index with -f",
                            files[0], ksv_format_name(first), files[i],
                            ksv_format_name(other));
    }
    format->options.format = first;
    return true;
}

static bool check_key(const format_arguments *format, command_line *cli)
{
    const char *what = NULL;
    switch (format->options.format) {
    case KSV_FORMAT_CSV:
    case KSV_FORMAT_TSV:
        what = "a column name or number";
        break;
    case KSV_FORMAT_JSONL:
        what = "a member, such as id or user.id";
        break;
    case KSV_FORMAT_FIXED:
        what = "bytes:A-B";
        break;
    case KSV_FORMAT_NONE:
    case KSV_FORMAT_LINES:
    case KSV_FORMAT_FASTA:
    case KSV_FORMAT_FASTQ:
        return true;
    }
    if (format->key_count > 0)
        return true;
    return cli_fail(cli, "format %s needs a key: -k with %s",
                    ksv_format_name(format->options.format), what);
}

bool format_arguments_finish(format_arguments *format, command_line *cli,
                             const char *const *files, size_t file_count,
                             ksv_format fallback)
{
    format->options.keys = format->keys;
    format->options.key_count = format->key_count;
    if (format->options.format != KSV_FORMAT_NONE)
        return check_key(format, cli);
    if (ksv_format_of_name(files[0]) == KSV_FORMAT_NONE)
        format->options.format = fallback;
    else if (!find_format(format, cli, files, file_count))
        return false;
    if (format->options.format != KSV_FORMAT_NONE)
        return check_key(format, cli);
    return cli_fail(cli,
                    "%s: the name does not tell the format: give it with -f "
                    "(csv, tsv, jsonl, lines, fasta, fastq, fixed)",
                    files[0]);
}
