/* SPDX-License-Identifier: MIT */
/* Lines whose ends a span of the window shows, many at once. */
#ifndef KSV_SCAN_LINE_SPANS_H
#define KSV_SCAN_LINE_SPANS_H

#include "scan/line_splitter.h"
#include "scan/record_reader_private.h"

/* Formats whose records are lines and whose keys are bytes of them. */
typedef struct line_rules {
    bool skips_blank;   /* empty lines are no records */
    bool strips_spaces; /* from both ends of the parts of a key */
} line_rules;

/* Gives lines that lie in the window, until one does not, or `capacity`. The
 * parts of the key are lines, byte ranges and fields. For use while
 * line_splitter_is_between(). */
ksv_status line_spans_take(record_reader *reader, const line_rules *rules,
                           scan_record *records, size_t capacity, size_t *count,
                           ksv_error *error);

/* No line has begun, and lone CRs are known to be data. */
static inline bool line_splitter_is_between(const line_splitter *s)
{
    return !s->open && s->saw_end;
}

#endif
