/* SPDX-License-Identifier: MIT */
/* Reads records whose keys lie at fixed bytes: lines, or of a fixed size. */
#include <inttypes.h>

#include "base/error.h"
#include "scan/line_spans.h"
#include "scan/line_splitter.h"
#include "scan/record_reader_private.h"

typedef struct fixed_reader {
    record_reader base;
    line_splitter splitter;
    uint64_t done_bytes; /* of the record being read, which has a size */
} fixed_reader;

static ksv_status fixed_begin(record_reader *base, bool in_middle,
                              ksv_error *error)
{
    (void)error;
    fixed_reader *r = (fixed_reader *)base;
    line_splitter_init(&r->splitter, base->spec, in_middle);
    r->done_bytes = 0;
    return KSV_OK;
}

/* `before`: bytes of the record before `data`. */
static ksv_status add_bytes(fixed_reader *r, uint64_t before,
                            const uint8_t *data, size_t size, ksv_error *error)
{
    const scan_spec *spec = r->base.spec;
    for (size_t i = 0; i < spec->part_count; i++)
        KSV_TRY(part_add_range(&r->base.parts[i], &spec->parts[i], before, data,
                               size, error));
    return KSV_OK;
}

static void strip_padding(part_value *part)
{
    while (part->size > 0 && part->data[part->size - 1] == ' ')
        part->size--;
    while (part->size > 0 && part->data[0] == ' ') {
        part->data++;
        part->size--;
    }
}

static ksv_status finish_record(fixed_reader *r, uint64_t offset,
                                uint64_t length, scan_record *record,
                                ksv_error *error)
{
    record->offset = offset;
    record->length = length;
    for (size_t i = 0;
         !r->base.spec->keep_padding && i < r->base.spec->part_count; i++)
        strip_padding(&r->base.parts[i]);
    return reader_finish_key(&r->base, record, error);
}

static ksv_status next_lines(fixed_reader *r, scan_record *records,
                             size_t capacity, size_t *count, ksv_error *error)
{
    line_splitter *s = &r->splitter;
    const line_rules rules = {true, !r->base.spec->keep_padding};
    while (*count < capacity && !reader_batch_is_full(&r->base)) {
        if (reader_wants_many(capacity) && line_splitter_is_between(s)) {
            KSV_TRY(line_spans_take(&r->base, &rules, records, capacity, count,
                                    error));
            if (*count == capacity || reader_batch_is_full(&r->base))
                return KSV_OK;
        }
        line_piece piece;
        bool got;
        KSV_TRY(line_splitter_next(s, &r->base, &piece, &got, error));
        if (!got)
            return KSV_OK;
        KSV_TRY(add_bytes(r, s->line_length - piece.size, piece.data,
                          piece.size, error));
        if (!piece.ends || s->line_length == 0)
            continue;
        KSV_TRY(finish_record(r, s->line_offset, s->line_length,
                              &records[*count], error));
        ++*count;
    }
    return KSV_OK;
}

/* The content has ended inside a record. */
static ksv_status finish_short(fixed_reader *r, scan_record *records,
                               size_t *count, ksv_error *error)
{
    uint64_t offset = reader_offset(&r->base) - r->done_bytes;
    if (!r->base.skip_bad_records)
        return error_set_at(error, KSV_ERROR_DATA, NULL, offset,
                            "the last record has only %" PRIu64 " of %" PRIu64
                            " bytes",
                            r->done_bytes, r->base.spec->record_size);
    KSV_TRY(finish_record(r, offset, r->done_bytes, &records[*count], error));
    records[*count].kind = SCAN_RECORD_BAD;
    ++*count;
    r->done_bytes = 0;
    return KSV_OK;
}

static ksv_status next_sized(fixed_reader *r, scan_record *records,
                             size_t capacity, size_t *count, ksv_error *error)
{
    record_reader *base = &r->base;
    uint64_t record_size = base->spec->record_size;
    while (*count < capacity && !reader_batch_is_full(base) &&
           base->position < base->size) {
        uint64_t missing = record_size - r->done_bytes;
        size_t taken = base->size - base->position;
        if (taken > missing)
            taken = (size_t)missing;
        KSV_TRY(add_bytes(r, r->done_bytes, base->data + base->position, taken,
                          error));
        base->position += taken;
        r->done_bytes += taken;
        if (r->done_bytes < record_size)
            break;
        r->done_bytes = 0;
        KSV_TRY(finish_record(r, reader_offset(base) - record_size, record_size,
                              &records[*count], error));
        ++*count;
    }
    if (base->last && base->position == base->size && r->done_bytes > 0 &&
        *count < capacity)
        return finish_short(r, records, count, error);
    return KSV_OK;
}

static ksv_status fixed_next(record_reader *base, scan_record *records,
                             size_t capacity, size_t *count, ksv_error *error)
{
    fixed_reader *r = (fixed_reader *)base;
    if (base->spec->record_size > 0)
        return next_sized(r, records, capacity, count, error);
    return next_lines(r, records, capacity, count, error);
}

const reader_ops fixed_reader_ops = {
    .reader_bytes = sizeof(fixed_reader),
    .begin = fixed_begin,
    .next = fixed_next,
};
