/* SPDX-License-Identifier: MIT */
/* The reader of csv and tsv: what its files share. */
#ifndef KSV_SCAN_DELIMITED_READER_H
#define KSV_SCAN_DELIMITED_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/record_reader_private.h"

/* Where in a record the next byte lies. */
typedef enum field_state {
    FIELD_NO_RECORD = 0,  /* before the first byte of a record */
    FIELD_START,          /* before the first byte of a field */
    FIELD_PLAIN,          /* outside quotes */
    FIELD_QUOTED,         /* inside */
    FIELD_QUOTE_IN_QUOTED /* behind a quote that closes, or is doubled */
} field_state;

typedef enum delimited_stage {
    DELIMITED_HEADER = 0,   /* the next record is the header */
    DELIMITED_FIRST_RECORD, /* it is data, and its width is checked */
    DELIMITED_RECORDS
} delimited_stage;

/* Where the columns of the parts of a key are in a header. Only the beginning
 * of a cell is kept, so that a header may be of any length. */
typedef struct column_search {
    byte_buffer cell;
    size_t cell_limit_bytes; /* more than that need not be told apart */
    byte_buffer listing;     /* names for a message */
    bool listing_is_full;
    struct column_hits {
        uint64_t count;
        uint64_t first; /* from 0 */
        uint64_t second;
    } * hits; /* a part each */
} column_search;

typedef struct delimited_reader {
    record_reader base;
    /* From the specification. */
    uint8_t delimiter;
    uint8_t end_byte;
    uint8_t quote;
    bool has_quote;
    bool escapes;  /* a backslash does */
    bool drops_cr; /* one CR before the end byte belongs to the terminator */
    const structure_kernels *kernels;
    /* Of the content. */
    delimited_stage stage;
    bool saw_end; /* so that lone CRs are data */
    bool saw_cr;
    uint64_t cr_offset;
    /* No byte from the last record's end up to here is a quote or an escape;
     * `at_special`: this one is. */
    uint64_t plain_end_offset;
    bool at_special;
    column_search search;
    /* The parts of the key in the order of their columns; those from
     * `first_active` up to `end_active` are in the field being read. */
    size_t *order;
    size_t first_active;
    size_t end_active;
    /* Of the record being read. */
    field_state state;
    bool escaped;  /* behind a backslash */
    bool holds_cr; /* the window ended in a CR that may be a terminator's */
    uint64_t record_offset;
    uint64_t record_length; /* once it has ended */
    uint64_t quote_offset;
    uint64_t field; /* from 0 */
} delimited_reader;

/* Reads to the end of a record (`*ended`), or of the window. At the end of the
 * content its last record ends, too. KSV_ERROR_DATA when a quote is not closed
 * then, or lone CRs would have been ends. (delimited_fields.c) */
ksv_status delimited_read_fields(delimited_reader *reader, bool *ended,
                                 ksv_error *error);

/* Gives records whose end and key the span of the window shows, until another
 * one, or `capacity`, is met (delimited_spans.c). */
ksv_status delimited_take_spans(delimited_reader *reader, scan_record *records,
                                size_t capacity, size_t *count,
                                ksv_error *error);

/* Gives the next record if it ends in the window, is not long, and its end and
 * key are plain to see; false: nothing was done (delimited_single.c). */
bool delimited_take_single(delimited_reader *reader, scan_record *record);

/* The columns of the header (delimited_header.c). */
ksv_status column_search_open(delimited_reader *reader, ksv_error *error);
void column_search_close(delimited_reader *reader);
void column_search_begin(delimited_reader *reader);
ksv_status column_search_add(delimited_reader *reader, const uint8_t *data,
                             size_t size, ksv_error *error);
ksv_status column_search_end_cell(delimited_reader *reader, ksv_error *error);
/* All cells were read: fills in the columns of the layout. KSV_ERROR_DATA tells
 * a column that is missing or ambiguous. */
ksv_status column_search_finish(delimited_reader *reader, ksv_error *error);
/* Whether every column that is given by number is there. */
ksv_status delimited_check_width(const delimited_reader *reader,
                                 const char *what, ksv_error *error);

#endif
