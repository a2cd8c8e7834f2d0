/* SPDX-License-Identifier: MIT */
/* Reads the one record that begins at a known offset. */
#include "scan/record_fetch.h"

#include "base/error.h"
#include "base/memory.h"

/* Reads beyond a record that is longer than expected. */
#define LONG_RECORD_READ_BYTES (256u * 1024)
/* Where records are short, a read of this size costs no more. */
#define SHORT_READ_BYTES 4096u

struct record_fetch {
    ksv_allocator allocator;
    const scan_spec *spec;
    record_reader *reader;
    uint8_t *buffer;
    size_t capacity;
};

ksv_status record_fetch_open(const scan_spec *spec,
                             const ksv_allocator *allocator, record_fetch **out,
                             ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    record_fetch *fetch = memory_zalloc(&a, sizeof *fetch);
    if (fetch == NULL)
        return error_set_memory(error);
    fetch->allocator = a;
    fetch->spec = spec;
    ksv_status status = record_reader_open(spec, false, &fetch->allocator,
                                           &fetch->reader, error);
    if (status != KSV_OK) {
        memory_free(&a, fetch, sizeof *fetch);
        return status;
    }
    *out = fetch;
    return KSV_OK;
}

void record_fetch_close(record_fetch *fetch)
{
    if (fetch == NULL)
        return;
    ksv_allocator a = fetch->allocator;
    record_reader_close(fetch->reader);
    memory_free(&a, fetch->buffer, fetch->capacity);
    memory_free(&a, fetch, sizeof *fetch);
}

/* Enough for the longest record with the byte before it and its terminator, but
 * not much more than usual where one record is extraordinarily long. */
static size_t first_read_bytes(const record_source *source)
{
    uint64_t mean =
        source->records > 0 ? source->content_bytes / source->records : 0;
    uint64_t usual =
        mean < LONG_RECORD_READ_BYTES / 4 ? 4 * mean : LONG_RECORD_READ_BYTES;
    if (usual < SHORT_READ_BYTES)
        usual = SHORT_READ_BYTES;
    uint64_t longest = source->longest_record_bytes + 4;
    return (size_t)(longest < usual ? longest : usual);
}

fetch_span record_fetch_span(const record_source *source, uint64_t offset)
{
    size_t before = offset > 0;
    return (fetch_span){offset - before, first_read_bytes(source) + before};
}

static ksv_status not_a_record(ksv_error *error, uint64_t offset)
{
    error_set_at(error, KSV_ERROR_STALE, NULL, offset,
                 "changed after it was indexed: the record that was here is "
                 "gone");
    error_add_remedy(error, KSV_REMEDY_UPDATE);
    return KSV_ERROR_STALE;
}

static ksv_status make_room(record_fetch *fetch, size_t wanted_bytes,
                            ksv_error *error)
{
    void *items = fetch->buffer;
    ksv_status status = memory_grow(&fetch->allocator, &items, &fetch->capacity,
                                    wanted_bytes, 1, error);
    fetch->buffer = items;
    return status;
}

/* The window that was read and not yet given to the reader. */
typedef struct fetch_window {
    uint64_t offset; /* in the content, of the next byte to read */
    size_t used;     /* bytes of the buffer in use */
    bool holding;    /* the buffer still has the record from its start on */
} fetch_window;

/* Reads the next piece behind what the buffer holds. */
static ksv_status read_more(record_fetch *fetch, const record_source *source,
                            size_t size_bytes, fetch_window *window,
                            size_t *got_bytes, datafile_cost *cost,
                            ksv_error *error)
{
    if (window->holding && window->used > RECORD_FETCH_HOLD_BYTES)
        window->holding = false;
    if (!window->holding)
        window->used = 0;
    KSV_TRY(make_room(fetch, window->used + size_bytes, error));
    KSV_TRY(datafile_read_at(source->file, window->offset,
                             fetch->buffer + window->used, size_bytes,
                             got_bytes, cost, error));
    window->offset += *got_bytes;
    return KSV_OK;
}

/* Feeds pieces until the reader gives the record. */
static ksv_status read_record(record_fetch *fetch, const record_source *source,
                              uint64_t offset, fetched_record *out,
                              datafile_cost *cost, ksv_error *error)
{
    size_t before = offset > 0; /* the byte that ends the record before */
    fetch_span span = record_fetch_span(source, offset);
    fetch_window window = {span.offset, 0, true};
    size_t size_bytes = span.size_bytes;
    for (size_t skip = before;; skip = 0) {
        size_t got;
        KSV_TRY(
            read_more(fetch, source, size_bytes, &window, &got, cost, error));
        uint8_t *piece = fetch->buffer + window.used;
        if (skip > 0 &&
            (got == 0 || !record_may_start_at(fetch->spec, offset, piece[0])))
            return not_a_record(error, offset);
        bool last = got < size_bytes || window.offset >= source->content_bytes;
        record_reader_feed(fetch->reader, piece + skip, got - skip, last);
        window.used += got;
        size_t count;
        KSV_TRY(
            record_reader_next(fetch->reader, &out->record, 1, &count, error));
        if (count == 1)
            break;
        if (last)
            return not_a_record(error, offset);
        size_bytes = LONG_RECORD_READ_BYTES;
    }
    if (out->record.offset != offset)
        return not_a_record(error, offset);
    out->data = window.holding ? fetch->buffer + before : NULL;
    return KSV_OK;
}

/* Looks for the record in the bytes at hand; `*found` is false when it goes on
 * beyond them. */
static ksv_status find_record(record_fetch *fetch, const record_source *source,
                              uint64_t offset, const uint8_t *bytes,
                              size_t size_bytes, bool *found,
                              fetched_record *out, ksv_error *error)
{
    fetch_span span = record_fetch_span(source, offset);
    size_t before = offset > 0;
    if (before > 0 &&
        (size_bytes == 0 || !record_may_start_at(fetch->spec, offset, *bytes)))
        return not_a_record(error, offset);
    bool last = size_bytes < span.size_bytes ||
                span.offset + size_bytes >= source->content_bytes;
    record_reader_feed(fetch->reader, bytes + before, size_bytes - before,
                       last);
    size_t count;
    KSV_TRY(record_reader_next(fetch->reader, &out->record, 1, &count, error));
    *found = count == 1;
    if (!*found)
        return last ? not_a_record(error, offset) : KSV_OK;
    if (out->record.offset != offset)
        return not_a_record(error, offset);
    out->data = bytes + before;
    return KSV_OK;
}

ksv_status record_fetch_in(record_fetch *fetch, const record_source *source,
                           uint64_t offset, const uint8_t *bytes,
                           size_t size_bytes, fetched_record *out,
                           datafile_cost *cost, ksv_error *error)
{
    bool found = false;
    KSV_TRY(record_reader_begin_at(fetch->reader, source->layout,
                                   source->layout_bytes, offset, error));
    ksv_status status = find_record(fetch, source, offset, bytes, size_bytes,
                                    &found, out, error);
    if (status == KSV_ERROR_DATA)
        return not_a_record(error, offset);
    if (status != KSV_OK || found)
        return status;
    return record_fetch_at(fetch, source, offset, out, cost, error);
}

ksv_status record_fetch_at(record_fetch *fetch, const record_source *source,
                           uint64_t offset, fetched_record *out,
                           datafile_cost *cost, ksv_error *error)
{
    KSV_TRY(record_reader_begin_at(fetch->reader, source->layout,
                                   source->layout_bytes, offset, error));
    ksv_status status = read_record(fetch, source, offset, out, cost, error);
    /* It was a record when it was indexed. */
    if (status == KSV_ERROR_DATA)
        return not_a_record(error, offset);
    return status;
}
