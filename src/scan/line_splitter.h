/* SPDX-License-Identifier: MIT */
/* Cuts windows into lines; a line that straddles windows comes in pieces. */
#ifndef KSV_SCAN_LINE_SPLITTER_H
#define KSV_SCAN_LINE_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scan/record_reader_private.h"

/* A piece of a line, without any of its terminator. A line within a window is
 * one piece, which begins and ends it. The last piece may be empty. */
typedef struct line_piece {
    const uint8_t *data;
    size_t size;
    bool begins;
    bool ends;
} line_piece;

typedef struct line_splitter {
    /* Of the line that the last piece belongs to. */
    uint64_t line_offset;
    uint64_t line_length; /* so far, without the terminator */
    /* For line_splitter.c: */
    uint8_t end_byte;
    bool drops_cr; /* one CR before the end byte belongs to the terminator */
    bool open;     /* a line has bytes already */
    bool begun;    /* a piece of it was given */
    bool holds_cr; /* the window ended in a CR that may end the line */
    bool saw_end;  /* so that lone CRs are data */
    bool saw_cr;
    uint64_t cr_offset;
} line_splitter;

/* Starts anew. `in_middle`: lone CRs are certainly data. */
void line_splitter_init(line_splitter *splitter, const scan_spec *spec,
                        bool in_middle);

/* The general case of line_splitter_next(). */
ksv_status line_splitter_next_piece(line_splitter *splitter,
                                    record_reader *reader, line_piece *piece,
                                    bool *got, ksv_error *error);

/* Takes the next piece from the reader's window; `*got` is false when the
 * window is used up (and, if it is the last, its last line was given).
 * KSV_ERROR_DATA when the content has ended without a line feed and has lone
 * CRs. */
static inline ksv_status line_splitter_next(line_splitter *s, record_reader *r,
                                            line_piece *piece, bool *got,
                                            ksv_error *error)
{
    if (s->open || !s->saw_end || r->position == r->size)
        return line_splitter_next_piece(s, r, piece, got, error);
    const uint8_t *start = r->data + r->position;
    const uint8_t *end = memchr(start, s->end_byte, r->size - r->position);
    if (end == NULL)
        return line_splitter_next_piece(s, r, piece, got, error);
    size_t length = (size_t)(end - start);
    s->line_offset = reader_offset(r);
    r->position += length + 1;
    if (length > 0 && s->drops_cr && start[length - 1] == '\r')
        length--;
    s->line_length = length;
    *piece = (line_piece){start, length, true, true};
    *got = true;
    return KSV_OK;
}

/* KSV_ERROR_DATA: lone CRs from `offset` on and no line feed. */
ksv_status line_splitter_refuse_lone_cr(uint64_t offset, ksv_error *error);

#endif
