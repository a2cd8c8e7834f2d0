/* SPDX-License-Identifier: MIT */
/* The options that say how data files are read and where keys stand. */
#ifndef KSV_TOOLS_FORMAT_ARGUMENTS_H
#define KSV_TOOLS_FORMAT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <keysieve/format.h>

#include "cli.h"

typedef struct format_arguments {
    ksv_format_options options; /* `keys` are set by format_arguments_finish */
    const char **keys;
    size_t key_count;
    bool has_dialect; /* one beside -f and -k was given */
} format_arguments;

enum {
    FORMAT_KEY_SEPARATOR = 300,
    FORMAT_QUOTE,
    FORMAT_ESCAPE,
    FORMAT_NO_HEADER,
    FORMAT_RECORD_END,
    FORMAT_RECORD_SIZE,
    FORMAT_KEEP_PADDING
};

#define FORMAT_ARGUMENTS_OPTIONS                                            \
    {'f', "format", "FORMAT",                                               \
     "csv tsv jsonl lines fasta fastq fixed\n"                              \
     "(default: by the file name)"},                                        \
        {'k', "key", "KEY",                                                 \
         "csv, tsv: column name or number (name:7)\n"                       \
         "jsonl: id, user.id or /user/id\n"                                 \
         "lines: line, field:N, bytes:A-B, regex:ERE\n"                     \
         "fixed: bytes:A-B    fasta, fastq: name, header\n"                 \
         "repeated: a composite key"},                                      \
        {FORMAT_KEY_SEPARATOR, "key-separator", "S",                        \
         "between its parts (default: a tab)"},                             \
        {'d', "delimiter", "C", "csv, tsv, fields of lines; \\t is a tab"}, \
        {FORMAT_QUOTE, "quote", "C", "csv, tsv: quote character, or none"}, \
        {FORMAT_ESCAPE, "escape", "HOW", "csv, tsv: backslash or double"},  \
        {FORMAT_NO_HEADER, "no-header", NULL,                               \
         "csv, tsv: the first line is a record"},                           \
        {FORMAT_RECORD_END, "record-end", "END",                            \
         "lf (a CR before it too) or cr alone"},                            \
        {FORMAT_RECORD_SIZE, "record-size", "N",                            \
         "fixed: bytes a record, without line ends"},                       \
    {                                                                       \
        FORMAT_KEEP_PADDING, "keep-padding", NULL,                          \
            "fixed: spaces around a key belong to it"                       \
    }

void format_arguments_open(format_arguments *format);
void format_arguments_close(format_arguments *format);

/* Takes one of the options above. Sets `*is_taken` false for any other. False
 * after a mistake. */
bool format_arguments_take(format_arguments *format, command_line *cli, int id,
                           const char *value, bool *is_taken);

/* Whether none of the options was given. */
bool format_arguments_is_empty(const format_arguments *format);

/* Takes the format from the names of the data files unless -f was given;
 * `fallback` (or KSV_FORMAT_NONE) when the first name does not tell. False
 * after a mistake, such as a missing key. */
bool format_arguments_finish(format_arguments *format, command_line *cli,
                             const char *const *files, size_t file_count,
                             ksv_format fallback);

#endif
