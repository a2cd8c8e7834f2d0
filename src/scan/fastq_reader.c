/* SPDX-License-Identifier: MIT */
/* Reads FASTQ: the quality of a record is as long as its sequence, whatever
 * lines the two are cut into. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "scan/line_splitter.h"
#include "scan/record_reader_private.h"
#include "scan/sequence_header.h"

/* After a bad record the next one is looked for from the line on that follows
 * its header, so that a record with a line too few does not take its neighbours
 * along; but only when the fault was seen within FASTQ_LOOK_BACK_BYTES of the
 * header, and not more often than FASTQ_LOOK_BACKS in a row: otherwise the
 * search begins behind the line where the fault was seen. */
#define FASTQ_LOOK_BACK_BYTES ((uint64_t)64 << 10)
#define FASTQ_LOOK_BACKS 16

typedef enum fastq_place {
    FASTQ_BETWEEN = 0, /* records */
    FASTQ_SEQUENCE,    /* the header is behind */
    FASTQ_QUALITY,     /* the '+' line is behind */
    FASTQ_COMPLETE     /* a record waits to be given */
} fastq_place;

typedef struct fastq_reader {
    record_reader base;
    line_splitter splitter;
    fastq_place place;
    int line_mark; /* first byte of the line being read; -1: none yet */
    sequence_header header;

    uint64_t start;
    uint64_t header_end;  /* of the header line, without its terminator */
    uint64_t second_line; /* where the next line begins */
    uint64_t end;         /* of the last line, without its terminator */
    uint64_t base_count;
    uint64_t quality_count;

    /* What is skipped: one stretch until a good record ends it. */
    bool has_bad;
    uint64_t bad_start;
    uint64_t bad_end;
    unsigned look_backs;
    /* With skip_bad_records, the bytes before the window from `held_offset` on,
     * to go back to. */
    byte_buffer held;
    uint64_t held_offset;
    /* While the held bytes are the window: the one that follows it. */
    bool in_held;
    const uint8_t *next_data;
    size_t next_size;
    bool next_last;
} fastq_reader;

static ksv_status fastq_reader_open(record_reader *base, ksv_error *error)
{
    (void)error;
    buffer_init(&((fastq_reader *)base)->held, &base->allocator);
    return KSV_OK;
}

static void fastq_reader_close(record_reader *base)
{
    fastq_reader *r = (fastq_reader *)base;
    if (r->held.allocator != NULL)
        buffer_release(&r->held);
}

static ksv_status fastq_reader_begin(record_reader *base, bool in_middle,
                                     ksv_error *error)
{
    (void)error;
    fastq_reader *r = (fastq_reader *)base;
    line_splitter_init(&r->splitter, base->spec, in_middle);
    r->place = FASTQ_BETWEEN;
    r->line_mark = -1;
    r->has_bad = false;
    r->look_backs = 0;
    r->in_held = false;
    buffer_clear(&r->held);
    return KSV_OK;
}

/* Forgets held bytes that nothing leads back to, once they are the most. */
static void trim_held(fastq_reader *r)
{
    size_t unneeded = (size_t)(r->second_line - r->held_offset);
    if (unneeded <= r->held.size / 2)
        return;
    r->held.size -= unneeded;
    memmove(r->held.data, r->held.data + unneeded, r->held.size);
    r->held_offset += unneeded;
}

/* Keeps what a fault in the record being read may lead back to. */
static ksv_status fastq_reader_hold(record_reader *base, ksv_error *error)
{
    fastq_reader *r = (fastq_reader *)base;
    uint64_t window_end = base->window_offset + base->size;
    if (!base->skip_bad_records || r->place == FASTQ_BETWEEN ||
        window_end - r->start > FASTQ_LOOK_BACK_BYTES) {
        buffer_clear(&r->held);
        return KSV_OK;
    }
    size_t before = 0;
    if (r->second_line >= base->window_offset) {
        before = (size_t)(r->second_line - base->window_offset);
        buffer_clear(&r->held);
        r->held_offset = r->second_line;
    } else {
        trim_held(r);
    }
    size_t size = base->size - before;
    return size > 0 ? buffer_append(&r->held, base->data + before, size, error)
                    : KSV_OK;
}

static void use_held_window(fastq_reader *r)
{
    record_reader *base = &r->base;
    r->in_held = true;
    r->next_data = base->data;
    r->next_size = base->size;
    r->next_last = base->last;
    base->data = r->held.data;
    base->size = r->held.size;
    base->window_offset = r->held_offset;
    base->last = false;
}

static void use_next_window(fastq_reader *r)
{
    record_reader *base = &r->base;
    r->in_held = false;
    base->window_offset += base->size;
    base->data = r->next_data;
    base->size = r->next_size;
    base->position = 0;
    base->last = r->next_last;
}

/* Reads on at the line behind the header of the record being read. */
static void look_back(fastq_reader *r)
{
    if (r->second_line < r->base.window_offset)
        use_held_window(r);
    r->base.position = (size_t)(r->second_line - r->base.window_offset);
    line_splitter_init(&r->splitter, r->base.spec, true);
}

static void extend_bad(fastq_reader *r, uint64_t start, uint64_t end)
{
    if (!r->has_bad)
        r->bad_start = start;
    r->has_bad = true;
    r->bad_end = end;
}

/* The record that began at `start` is none. */
static void skip_record(fastq_reader *r)
{
    bool near = reader_offset(&r->base) - r->start <= FASTQ_LOOK_BACK_BYTES;
    r->place = FASTQ_BETWEEN;
    r->line_mark = -1;
    for (size_t i = 0; i < r->base.spec->part_count; i++)
        part_reset(&r->base.parts[i]);
    if (near && r->look_backs < FASTQ_LOOK_BACKS) {
        r->look_backs++;
        extend_bad(r, r->start, r->header_end);
        look_back(r);
    } else {
        r->look_backs = 0;
        extend_bad(r, r->start, r->end);
    }
}

static ksv_status fail_start(const fastq_reader *r, ksv_error *error)
{
    const char *hint = r->line_mark == '>' ? "; it looks like FASTA" : "";
    return error_set_at(error, KSV_ERROR_DATA, NULL, r->splitter.line_offset,
                        "the FASTQ record does not begin with '@'%s", hint);
}

static ksv_status fail_length(const fastq_reader *r, ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_DATA, NULL, r->start,
                        "the FASTQ record has %" PRIu64 " bases and %" PRIu64
                        " qualities",
                        r->base_count, r->quality_count);
}

static ksv_status fail_cut(const fastq_reader *r, ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_DATA, NULL, r->start,
                        "the FASTQ record ends before its quality does "
                        "(%" PRIu64 " bases and %" PRIu64 " qualities)",
                        r->base_count, r->quality_count);
}

static ksv_status end_line_between(fastq_reader *r, ksv_error *error)
{
    uint64_t length = r->splitter.line_length;
    uint64_t start = r->splitter.line_offset;
    if (length == 0)
        return KSV_OK;
    if (r->line_mark != '@') {
        if (!r->base.skip_bad_records)
            return fail_start(r, error);
        extend_bad(r, start, start + length);
        return KSV_OK;
    }
    r->start = start;
    r->header_end = r->end = start + length;
    r->second_line = reader_offset(&r->base);
    r->base_count = 0;
    r->quality_count = 0;
    r->place = FASTQ_SEQUENCE;
    return KSV_OK;
}

static ksv_status end_line(fastq_reader *r, ksv_error *error)
{
    uint64_t length = r->splitter.line_length;
    if (r->place == FASTQ_BETWEEN)
        return end_line_between(r, error);
    r->end = r->splitter.line_offset + length;
    if (r->place == FASTQ_SEQUENCE) {
        if (r->line_mark == '+')
            r->place = FASTQ_QUALITY;
        else
            r->base_count += length;
        return KSV_OK;
    }
    r->quality_count += length;
    if (r->quality_count == r->base_count)
        r->place = FASTQ_COMPLETE;
    if (r->quality_count <= r->base_count)
        return KSV_OK;
    if (!r->base.skip_bad_records)
        return fail_length(r, error);
    skip_record(r);
    return KSV_OK;
}

static ksv_status add_piece(fastq_reader *r, const line_piece *piece,
                            ksv_error *error)
{
    if (piece->begins)
        r->line_mark = -1;
    if (r->line_mark < 0 && piece->size > 0) {
        r->line_mark = piece->data[0];
        r->header = SEQUENCE_BEFORE_MARK;
    }
    if (r->place == FASTQ_BETWEEN && r->line_mark == '@')
        KSV_TRY(sequence_header_add(&r->header, &r->base, piece->data,
                                    piece->size, error));
    return piece->ends ? end_line(r, error) : KSV_OK;
}

static scan_record bad_record(fastq_reader *r)
{
    r->has_bad = false;
    return (scan_record){.offset = r->bad_start,
                         .length = r->bad_end - r->bad_start,
                         .kind = SCAN_RECORD_BAD};
}

/* Gives the complete record, or the stretch skipped before it. */
static ksv_status give_record(fastq_reader *r, scan_record *record,
                              ksv_error *error)
{
    if (r->has_bad) {
        *record = bad_record(r);
        return KSV_OK;
    }
    r->place = FASTQ_BETWEEN;
    r->look_backs = 0;
    record->offset = r->start;
    record->length = r->end - r->start;
    return reader_finish_key(&r->base, record, error);
}

/* The window is used up. `*more` when there is something to do nevertheless. */
static ksv_status end_window(fastq_reader *r, scan_record *records,
                             size_t *count, bool *more, ksv_error *error)
{
    *more = true;
    if (r->in_held) {
        use_next_window(r);
        return KSV_OK;
    }
    if (r->base.last && r->place != FASTQ_BETWEEN) {
        if (!r->base.skip_bad_records)
            return fail_cut(r, error);
        skip_record(r);
        return KSV_OK;
    }
    *more = false;
    if (r->base.last && r->has_bad)
        records[(*count)++] = bad_record(r);
    return KSV_OK;
}

static ksv_status fastq_reader_next(record_reader *base, scan_record *records,
                                    size_t capacity, size_t *count,
                                    ksv_error *error)
{
    fastq_reader *r = (fastq_reader *)base;
    while (*count < capacity && !reader_batch_is_full(base)) {
        if (r->place == FASTQ_COMPLETE) {
            KSV_TRY(give_record(r, &records[*count], error));
            ++*count;
            continue;
        }
        line_piece piece;
        bool got;
        KSV_TRY(line_splitter_next(&r->splitter, base, &piece, &got, error));
        bool more = true;
        if (got)
            KSV_TRY(add_piece(r, &piece, error));
        else
            KSV_TRY(end_window(r, records, count, &more, error));
        if (!more)
            return KSV_OK;
    }
    return KSV_OK;
}

const reader_ops fastq_reader_ops = {
    .reader_bytes = sizeof(fastq_reader),
    .open = fastq_reader_open,
    .close = fastq_reader_close,
    .begin = fastq_reader_begin,
    .next = fastq_reader_next,
    .hold = fastq_reader_hold,
};
