/* SPDX-License-Identifier: MIT */
/* A format and its key specification, parsed, checked and storable. */
#ifndef KSV_SCAN_SCAN_SPEC_H
#define KSV_SCAN_SCAN_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/format.h>
#include <keysieve/memory.h>

#include "base/memory.h"

/* One part of a key. */
typedef enum key_part_kind {
    KEY_PART_COLUMN_NAME = 1,   /* csv, tsv: `text` */
    KEY_PART_COLUMN_NUMBER = 2, /* csv, tsv, lines' field: `first`, from 1 */
    KEY_PART_LINE = 3,          /* lines: the whole line */
    KEY_PART_BYTES = 4,         /* lines, fixed: `first` to `last`, from 1 */
    KEY_PART_REGEX = 5,         /* lines: `text`, a POSIX ERE, group 1 */
    KEY_PART_MEMBER = 6,        /* jsonl: the steps in `text` */
    KEY_PART_NAME = 7,          /* fasta, fastq: first word of the header */
    KEY_PART_HEADER = 8         /* fasta, fastq: the whole header */
} key_part_kind;

typedef struct key_part {
    key_part_kind kind;
    uint64_t first;
    uint64_t last;
    /* Not NUL-terminated as such; a NUL stands behind it for convenience. For
     * KEY_PART_MEMBER the decoded steps, each ended by a NUL and without one
     * inside (a step that needs one is refused). */
    char *text;
    size_t text_bytes;
} key_part;

/* Never changed once made, so that threads may share it. */
typedef struct scan_spec {
    ksv_allocator allocator;
    ksv_format format;
    key_part *parts;
    size_t part_count; /* at least 1 */
    char *separator;   /* between the parts; NUL-terminated */
    uint8_t delimiter;
    int quote; /* a byte, or KSV_BYTE_NONE */
    bool escape_backslash;
    bool has_header;
    bool record_end_cr;
    bool keep_padding;
    uint64_t record_size;
    /* The key specifications in their shortest form, joined with ", ": for
     * people. */
    char *key_text;
} scan_spec;

/* Checks and parses what a user gave. KSV_ERROR_ARGUMENT says what is wrong and
 * what would be right. Whether the format can be read is the reader's to say.
 */
ksv_status scan_spec_create(const ksv_format_options *options,
                            const ksv_allocator *allocator, scan_spec **out,
                            ksv_error *error);
void scan_spec_destroy(scan_spec *spec);

/* Appends the stored form: two specifications mean the same exactly when their
 * stored forms are equal bytes. */
ksv_status scan_spec_encode(const scan_spec *spec, byte_buffer *out,
                            ksv_error *error);
/* From untrusted bytes: KSV_ERROR_CORRUPT unless scan_spec_encode() could have
 * written them (a regular expression is not compiled here, but when a reader is
 * opened), KSV_ERROR_VERSION for a later version of the form. */
ksv_status scan_spec_decode(const void *data, size_t size_bytes,
                            const ksv_allocator *allocator, scan_spec **out,
                            ksv_error *error);

#endif
