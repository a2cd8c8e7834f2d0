/* SPDX-License-Identifier: MIT */
/* The rules of fasta and fastq, read slowly from a whole buffer. */
#include "support/sequence_reference.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINES 20000

typedef struct line {
    size_t start;
    size_t end;  /* without the terminator */
    size_t next; /* behind the terminator */
} line;

typedef struct content {
    const uint8_t *data;
    size_t size;
    line lines[MAX_LINES];
    size_t count;
    bool lone_cr;
    size_t cr_at;
} content;

static void add_line(content *c, size_t start, size_t end, size_t next)
{
    if (c->count == MAX_LINES)
        abort();
    c->lines[c->count++] = (line){start, end, next};
}

static content *split(const uint8_t *data, size_t size)
{
    content *c = calloc(1, sizeof *c);
    if (c == NULL)
        abort();
    c->data = data;
    c->size = size;
    size_t start = 0;
    if (size >= 3 && data[0] == 0xef && data[1] == 0xbb && data[2] == 0xbf)
        start = 3;
    bool any_lf = false;
    for (size_t i = start; i < size; i++) {
        if (data[i] == '\r' && !c->lone_cr) {
            c->lone_cr = true;
            c->cr_at = i;
        }
        if (data[i] != '\n')
            continue;
        any_lf = true;
        add_line(c, start, i > start && data[i - 1] == '\r' ? i - 1 : i, i + 1);
        start = i + 1;
    }
    if (start < size)
        add_line(c, start, size, size);
    c->lone_cr = c->lone_cr && !any_lf;
    return c;
}

static bool is_space(uint8_t c)
{
    return strchr(" \t\n\v\f\r", c) != NULL && c != 0;
}

static bool is_blank(const content *c, const line *l)
{
    for (size_t i = l->start; i < l->end; i++) {
        if (!is_space(c->data[i]))
            return false;
    }
    return true;
}

static int mark_of(const content *c, const line *l)
{
    return l->start < l->end ? c->data[l->start] : -1;
}

static void add_record(scan_result *result, const content *c, const line *first,
                       size_t end, bool whole_header)
{
    size_t from = first->start + 1;
    size_t to = first->end;
    if (!whole_header) {
        while (from < to && is_space(c->data[from]))
            from++;
        to = from;
        while (to < first->end && !is_space(c->data[to]))
            to++;
    }
    scan_result_add(result, first->start, end - first->start,
                    from < to ? SCAN_RECORD_KEYED : SCAN_RECORD_WITHOUT_KEY,
                    c->data + from, to - from);
}

static void fail(scan_result *result, size_t offset)
{
    result->status = KSV_ERROR_DATA;
    result->error.byte_offset = offset;
}

static bool refuse_lone_cr(const content *c, scan_result *result)
{
    if (c->lone_cr)
        fail(result, c->cr_at);
    return c->lone_cr;
}

static void fasta_lines(const content *c, bool whole_header, bool skip_bad,
                        scan_result *result)
{
    const line *first = NULL;
    bool good = false;
    size_t end = 0;
    for (size_t i = 0; i <= c->count; i++) {
        const line *l = &c->lines[i];
        bool begins = i < c->count && mark_of(c, l) == '>';
        if (first != NULL && (begins || i == c->count)) {
            if (good)
                add_record(result, c, first, end, whole_header);
            else
                scan_result_add(result, first->start, end - first->start,
                                SCAN_RECORD_BAD, "", 0);
        }
        if (i == c->count || is_blank(c, l))
            continue;
        if (first == NULL && !begins && !skip_bad) {
            fail(result, l->start);
            return;
        }
        if (first == NULL || begins)
            first = l;
        good |= begins;
        end = l->end;
    }
}

void reference_read_fasta(bool whole_header, bool skip_bad, const uint8_t *data,
                          size_t size, scan_result *result)
{
    content *c = split(data, size);
    if (!refuse_lone_cr(c, result))
        fasta_lines(c, whole_header, skip_bad, result);
    free(c);
}

/* Tries the record whose header is line `i`; `*seen` is the line behind the
 * last one looked at. */
static bool try_fastq(const content *c, size_t i, size_t *seen)
{
    size_t bases = 0;
    size_t qualities = 0;
    for (i++; i < c->count && mark_of(c, &c->lines[i]) != '+'; i++)
        bases += c->lines[i].end - c->lines[i].start;
    *seen = c->count;
    if (i == c->count)
        return false;
    for (i++; i < c->count; i++) {
        qualities += c->lines[i].end - c->lines[i].start;
        *seen = i + 1;
        if (qualities >= bases)
            return qualities == bases;
    }
    *seen = c->count;
    return false;
}

typedef struct bad_stretch {
    bool open;
    size_t start;
    size_t end;
} bad_stretch;

static void extend(bad_stretch *bad, size_t start, size_t end)
{
    if (!bad->open)
        bad->start = start;
    bad->open = true;
    bad->end = end;
}

static void close_stretch(bad_stretch *bad, scan_result *result)
{
    if (bad->open)
        scan_result_add(result, bad->start, bad->end - bad->start,
                        SCAN_RECORD_BAD, "", 0);
    bad->open = false;
}

/* The next line to look at after the bad record of line `i`. */
static size_t after_bad(const content *c, size_t i, size_t seen, unsigned *back,
                        bad_stretch *bad)
{
    const line *l = &c->lines[i];
    if (mark_of(c, l) != '@') {
        extend(bad, l->start, l->end);
        return i + 1;
    }
    size_t reach = c->lines[seen - 1].next - l->start;
    if (reach <= 65536 && *back < 16) {
        ++*back;
        extend(bad, l->start, l->end);
        return i + 1;
    }
    *back = 0;
    extend(bad, l->start, c->lines[seen - 1].end);
    return seen;
}

static void fastq_lines(const content *c, bool whole_header, bool skip_bad,
                        scan_result *result)
{
    bad_stretch bad = {0};
    unsigned back = 0;
    for (size_t i = 0; i < c->count;) {
        const line *l = &c->lines[i];
        size_t seen = i + 1;
        if (l->start == l->end) {
            i++;
        } else if (mark_of(c, l) == '@' && try_fastq(c, i, &seen)) {
            close_stretch(&bad, result);
            back = 0;
            add_record(result, c, l, c->lines[seen - 1].end, whole_header);
            i = seen;
        } else if (!skip_bad) {
            fail(result, l->start);
            return;
        } else {
            i = after_bad(c, i, seen, &back, &bad);
        }
    }
    close_stretch(&bad, result);
}

void reference_read_fastq(bool whole_header, bool skip_bad, const uint8_t *data,
                          size_t size, scan_result *result)
{
    content *c = split(data, size);
    if (!refuse_lone_cr(c, result))
        fastq_lines(c, whole_header, skip_bad, result);
    free(c);
}
