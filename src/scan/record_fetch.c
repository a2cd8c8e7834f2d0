/* SPDX-License-Identifier: MIT */
/* Reads the one record that begins at a known offset. */
#include "scan/record_fetch.h"

#include <string.h>

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

size_t record_fetch_held_bytes(const record_fetch *fetch)
{
    return fetch->capacity;
}

/* Enough for the longest record with the byte before it and its terminator, but
 * not much more than usual where one record is extraordinarily long. */
static size_t first_read_bytes(const record_source *source)
{
    if (source->first_read_bytes > 0)
        return source->first_read_bytes;
    uint64_t mean =
        source->records > 0 ? source->content_bytes / source->records : 0;
    uint64_t usual =
        mean < LONG_RECORD_READ_BYTES / 4 ? 4 * mean : LONG_RECORD_READ_BYTES;
    if (usual < SHORT_READ_BYTES)
        usual = SHORT_READ_BYTES;
    uint64_t longest = source->longest_record_bytes + 4;
    return (size_t)(longest < usual ? longest : usual);
}

void record_source_measure(record_source *source)
{
    source->first_read_bytes = 0;
    source->first_read_bytes = first_read_bytes(source);
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

/* Gives the reader a piece that follows what it was given before, the first one
 * with the byte before the record. `*found` when it had the record's end. */
static ksv_status feed_piece(record_fetch *fetch, const record_source *source,
                             uint64_t offset, const fetch_span *piece,
                             const uint8_t *bytes, size_t got, bool *found,
                             fetched_record *out, ksv_error *error)
{
    size_t skip = piece->offset < offset;
    if (skip > 0 &&
        (got == 0 || !record_may_start_at(fetch->spec, offset, bytes[0])))
        return not_a_record(error, offset);
    bool last =
        got < piece->size_bytes || piece->offset + got >= source->content_bytes;
    record_reader_feed(fetch->reader, bytes + skip, got - skip, last);
    size_t count;
    KSV_TRY(record_reader_next(fetch->reader, &out->record, 1, &count, error));
    *found = count == 1;
    if (*found ? out->record.offset != offset : last)
        return not_a_record(error, offset);
    return KSV_OK;
}

/* Reads pieces, of which the first is `piece`, until the reader gives the
 * record. */
static ksv_status read_record(record_fetch *fetch, const record_source *source,
                              uint64_t offset, fetch_window *window,
                              fetch_span piece, fetched_record *out,
                              datafile_cost *cost, ksv_error *error)
{
    bool found = false;
    while (!found) {
        size_t got;
        KSV_TRY(read_more(fetch, source, piece.size_bytes, window, &got, cost,
                          error));
        KSV_TRY(feed_piece(fetch, source, offset, &piece,
                           fetch->buffer + window->used, got, &found, out,
                           error));
        window->used += got;
        piece = (fetch_span){window->offset, LONG_RECORD_READ_BYTES};
    }
    out->data = window->holding ? fetch->buffer + (offset > 0) : NULL;
    return KSV_OK;
}

/* Goes on behind the bytes that the reader has had. */
static ksv_status read_rest(record_fetch *fetch, const record_source *source,
                            uint64_t offset, const uint8_t *bytes,
                            size_t size_bytes, fetched_record *out,
                            datafile_cost *cost, ksv_error *error)
{
    fetch_span span = record_fetch_span(source, offset);
    fetch_window window = {span.offset + size_bytes, size_bytes, true};
    KSV_TRY(make_room(fetch, size_bytes, error));
    memcpy(fetch->buffer, bytes, size_bytes);
    return read_record(fetch, source, offset, &window,
                       (fetch_span){window.offset, LONG_RECORD_READ_BYTES}, out,
                       cost, error);
}

ksv_status record_fetch_in(record_fetch *fetch, const record_source *source,
                           uint64_t offset, const uint8_t *bytes,
                           size_t size_bytes, fetched_record *out,
                           datafile_cost *cost, ksv_error *error)
{
    bool found = false;
    fetch_span span = record_fetch_span(source, offset);
    KSV_TRY(record_reader_begin_at(fetch->reader, source->layout,
                                   source->layout_bytes, offset, error));
    ksv_status status = feed_piece(fetch, source, offset, &span, bytes,
                                   size_bytes, &found, out, error);
    out->data = bytes + (offset > 0);
    if (status == KSV_OK && !found)
        status = read_rest(fetch, source, offset, bytes, size_bytes, out, cost,
                           error);
    return status == KSV_ERROR_DATA ? not_a_record(error, offset) : status;
}

ksv_status record_fetch_at(record_fetch *fetch, const record_source *source,
                           uint64_t offset, fetched_record *out,
                           datafile_cost *cost, ksv_error *error)
{
    KSV_TRY(record_reader_begin_at(fetch->reader, source->layout,
                                   source->layout_bytes, offset, error));
    fetch_span span = record_fetch_span(source, offset);
    fetch_window window = {span.offset, 0, true};
    ksv_status status =
        read_record(fetch, source, offset, &window, span, out, cost, error);
    /* It was a record when it was indexed. */
    return status == KSV_ERROR_DATA ? not_a_record(error, offset) : status;
}
