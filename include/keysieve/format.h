/* SPDX-License-Identifier: MIT */
/* How data files are split into records and where a record has its key. */
#ifndef KEYSIEVE_FORMAT_H
#define KEYSIEVE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ksv_format {
    KSV_FORMAT_NONE = 0, /* not given */
    KSV_FORMAT_CSV = 1,
    KSV_FORMAT_TSV = 2,
    KSV_FORMAT_LINES = 3,
    KSV_FORMAT_JSONL = 4,
    KSV_FORMAT_FASTA = 5,
    KSV_FORMAT_FASTQ = 6,
    KSV_FORMAT_FIXED = 7
} ksv_format;

/* For `delimiter` and `quote`: the default of the format; no quoting. */
#define KSV_BYTE_DEFAULT (-1)
#define KSV_BYTE_NONE (-2)

/* Borrowed for the call that takes it. All zero but for `format`, `delimiter`
 * and `quote` (KSV_BYTE_DEFAULT) is a usable default: see
 * ksv_format_options_init(). */
typedef struct ksv_format_options {
    ksv_format format;
    /* Key specifications, as the option --key takes them:
     *   csv, tsv  a column name, a number from 1, or "name:7"
     *   lines     "line", "field:N", "bytes:A-B", "regex:ERE"
     *   jsonl     "id", "user.id", "/user/id"
     *   fasta, fastq  "name", "header"
     *   fixed     "bytes:A-B"
     * Several make a composite key. None is allowed where the format has a
     * default (lines, fasta, fastq). */
    const char *const *keys;
    size_t key_count;
    /* Between the parts of a composite key; NULL: a tab. NUL-terminated. */
    const char *key_separator;
    int delimiter;         /* a byte, or KSV_BYTE_DEFAULT */
    int quote;             /* a byte, KSV_BYTE_DEFAULT or KSV_BYTE_NONE */
    bool escape_backslash; /* a backslash escapes, doubling does not */
    bool no_header;        /* csv, tsv: the first record is data */
    bool record_end_cr;    /* records end at CR alone */
    bool keep_padding;     /* fixed: spaces around a key belong to it */
    uint64_t record_size;  /* fixed: bytes a record; 0: records are lines */
} ksv_format_options;

KSV_API void ksv_format_options_init(ksv_format_options *options);

/* The format that a file name tells by its ending (".csv", ".tsv", ".txt",
 * ".jsonl", ".ndjson", ".fa", ".fasta", ".fna", ".fq", ".fastq", each also with
 * ".gz" or ".bgz"), or KSV_FORMAT_NONE. Thread-safe. */
KSV_API ksv_format ksv_format_of_name(const char *file_name);

/* "csv" for KSV_FORMAT_CSV and so on; never NULL. */
KSV_API const char *ksv_format_name(ksv_format format);

/* The format called `name`, or KSV_FORMAT_NONE. */
KSV_API ksv_format ksv_format_from_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif
