/* SPDX-License-Identifier: MIT */
/* Names of formats, and the format that a file name tells. */
#include <keysieve/format.h>

#include <string.h>

static const char *const FORMAT_NAMES[] = {
    [KSV_FORMAT_NONE] = "none",   [KSV_FORMAT_CSV] = "csv",
    [KSV_FORMAT_TSV] = "tsv",     [KSV_FORMAT_LINES] = "lines",
    [KSV_FORMAT_JSONL] = "jsonl", [KSV_FORMAT_FASTA] = "fasta",
    [KSV_FORMAT_FASTQ] = "fastq", [KSV_FORMAT_FIXED] = "fixed",
};

#define FORMAT_COUNT (sizeof FORMAT_NAMES / sizeof FORMAT_NAMES[0])

static const struct {
    const char *ending;
    ksv_format format;
} ENDINGS[] = {
    {".csv", KSV_FORMAT_CSV},      {".tsv", KSV_FORMAT_TSV},
    {".txt", KSV_FORMAT_LINES},    {".jsonl", KSV_FORMAT_JSONL},
    {".ndjson", KSV_FORMAT_JSONL}, {".fa", KSV_FORMAT_FASTA},
    {".fasta", KSV_FORMAT_FASTA},  {".fna", KSV_FORMAT_FASTA},
    {".fq", KSV_FORMAT_FASTQ},     {".fastq", KSV_FORMAT_FASTQ},
};

static const char *const COMPRESSED_ENDINGS[] = {".gz", ".bgz"};

/* Not tolower(): that one depends on the locale. */
static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the `length` bytes at `name` end in `ending`, in whatever case. */
static bool ends_in(const char *name, size_t length, const char *ending)
{
    size_t ending_bytes = strlen(ending);
    if (length < ending_bytes)
        return false;
    const char *tail = name + length - ending_bytes;
    for (size_t i = 0; i < ending_bytes; i++) {
        if (ascii_lower(tail[i]) != ending[i])
            return false;
    }
    return true;
}

static size_t length_uncompressed(const char *name)
{
    size_t length = strlen(name);
    size_t count = sizeof COMPRESSED_ENDINGS / sizeof COMPRESSED_ENDINGS[0];
    for (size_t i = 0; i < count; i++) {
        if (ends_in(name, length, COMPRESSED_ENDINGS[i]))
            return length - strlen(COMPRESSED_ENDINGS[i]);
    }
    return length;
}

void ksv_format_options_init(ksv_format_options *options)
{
    memset(options, 0, sizeof *options);
    options->delimiter = KSV_BYTE_DEFAULT;
    options->quote = KSV_BYTE_DEFAULT;
}

ksv_format ksv_format_of_name(const char *file_name)
{
    if (file_name == NULL)
        return KSV_FORMAT_NONE;
    size_t length = length_uncompressed(file_name);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
        if (ends_in(file_name, length, ENDINGS[i].ending))
            return ENDINGS[i].format;
    }
    return KSV_FORMAT_NONE;
}

const char *ksv_format_name(ksv_format format)
{
    return (unsigned)format < FORMAT_COUNT ? FORMAT_NAMES[format] : "unknown";
}

ksv_format ksv_format_from_name(const char *name)
{
    for (size_t i = KSV_FORMAT_CSV; name != NULL && i < FORMAT_COUNT; i++) {
        if (strcmp(name, FORMAT_NAMES[i]) == 0)
            return (ksv_format)i;
    }
    return KSV_FORMAT_NONE;
}
