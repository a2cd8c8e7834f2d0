/* SPDX-License-Identifier: MIT */
/* Reads FASTA: a record runs from a '>' to its last line that is not blank. */
#include "base/error.h"
#include "scan/line_splitter.h"
#include "scan/record_reader_private.h"
#include "scan/sequence_header.h"

typedef enum fasta_line {
    FASTA_BLANK = 0, /* so far */
    FASTA_HEADER,
    FASTA_TEXT
} fasta_line;

typedef enum fasta_stretch {
    FASTA_NOTHING = 0, /* before the first line that is not blank */
    FASTA_RECORD,
    FASTA_BAD /* text before the first header */
} fasta_stretch;

typedef struct fasta_reader {
    record_reader base;
    line_splitter splitter;
    fasta_line line; /* the one being read */
    sequence_header header;
    fasta_stretch stretch; /* what `start` and `end` are of */
    uint64_t start;
    uint64_t end; /* of its last line that is not blank */
} fasta_reader;

static ksv_status fasta_reader_begin(record_reader *base, bool in_middle,
                                     ksv_error *error)
{
    (void)error;
    fasta_reader *r = (fasta_reader *)base;
    line_splitter_init(&r->splitter, base->spec, in_middle);
    r->stretch = FASTA_NOTHING;
    r->line = FASTA_BLANK;
    return KSV_OK;
}

/* Gives the stretch that has ended, if there is one. */
static ksv_status give_stretch(fasta_reader *r, scan_record *records,
                               size_t *count, ksv_error *error)
{
    fasta_stretch stretch = r->stretch;
    if (stretch == FASTA_NOTHING)
        return KSV_OK;
    r->stretch = FASTA_NOTHING;
    scan_record *record = &records[*count];
    *record = (scan_record){.offset = r->start,
                            .length = r->end - r->start,
                            .kind = SCAN_RECORD_BAD};
    if (stretch == FASTA_RECORD)
        KSV_TRY(reader_finish_key(&r->base, record, error));
    ++*count;
    return KSV_OK;
}

/* The first byte of a line that is not white space, or a header's mark. */
static bool has_text(const line_piece *piece)
{
    for (size_t i = 0; i < piece->size; i++) {
        if (!sequence_is_space(piece->data[i]))
            return true;
    }
    return false;
}

static ksv_status add_piece(fasta_reader *r, const line_piece *piece,
                            scan_record *records, size_t *count,
                            ksv_error *error)
{
    bool at_line_start = r->splitter.line_length == piece->size;
    if (piece->begins)
        r->line = FASTA_BLANK;
    if (at_line_start && piece->size > 0 && piece->data[0] == '>') {
        KSV_TRY(give_stretch(r, records, count, error));
        r->line = FASTA_HEADER;
        r->header = SEQUENCE_BEFORE_MARK;
        r->stretch = FASTA_RECORD;
        r->start = r->splitter.line_offset;
    }
    if (r->line == FASTA_HEADER)
        return sequence_header_add(&r->header, &r->base, piece->data,
                                   piece->size, error);
    if (r->line == FASTA_BLANK && has_text(piece))
        r->line = FASTA_TEXT;
    return KSV_OK;
}

static ksv_status end_line(fasta_reader *r, ksv_error *error)
{
    if (r->line == FASTA_BLANK)
        return KSV_OK;
    if (r->stretch == FASTA_NOTHING) {
        if (!r->base.skip_bad_records)
            return error_set_at(error, KSV_ERROR_DATA, NULL,
                                r->splitter.line_offset,
                                "text before the first '>': this is not FASTA");
        r->stretch = FASTA_BAD;
        r->start = r->splitter.line_offset;
    }
    r->end = r->splitter.line_offset + r->splitter.line_length;
    return KSV_OK;
}

static ksv_status fasta_reader_next(record_reader *base, scan_record *records,
                                    size_t capacity, size_t *count,
                                    ksv_error *error)
{
    fasta_reader *r = (fasta_reader *)base;
    while (*count < capacity && !reader_batch_is_full(base)) {
        line_piece piece;
        bool got;
        KSV_TRY(line_splitter_next(&r->splitter, base, &piece, &got, error));
        if (!got)
            return base->last ? give_stretch(r, records, count, error) : KSV_OK;
        KSV_TRY(add_piece(r, &piece, records, count, error));
        if (piece.ends)
            KSV_TRY(end_line(r, error));
    }
    return KSV_OK;
}

const reader_ops fasta_reader_ops = {
    .reader_bytes = sizeof(fasta_reader),
    .begin = fasta_reader_begin,
    .next = fasta_reader_next,
};
