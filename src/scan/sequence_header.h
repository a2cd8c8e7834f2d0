/* SPDX-License-Identifier: MIT */
/* The header lines of fasta and fastq records, and the keys in them. */
#ifndef KSV_SCAN_SEQUENCE_HEADER_H
#define KSV_SCAN_SEQUENCE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/record_reader_private.h"

typedef enum sequence_header {
    SEQUENCE_BEFORE_MARK = 0, /* the '>' or '@' comes first */
    SEQUENCE_BEFORE_NAME,
    SEQUENCE_IN_NAME,
    SEQUENCE_AFTER_NAME
} sequence_header;

static inline bool sequence_is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Adds the next piece of a header line, which begins with its mark, to the
 * parts of the reader's key. */
ksv_status sequence_header_add(sequence_header *place, record_reader *reader,
                               const uint8_t *data, size_t size,
                               ksv_error *error);

#endif
