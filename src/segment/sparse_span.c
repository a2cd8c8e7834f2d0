/* SPDX-License-Identifier: MIT */
/* The records of a span of a data file whose table has one entry a span. A span
 * ends where a record begins or the part ends, so that its bytes are those of
 * whole records. */
#include "segment/sparse_span.h"

#include <string.h>

#include "base/error.h"
#include "catalog/file_identity.h"
#include "segment/segment_data.h"

/* Buffers that a long span has made larger are not kept. */
#define KEPT_BYTES ((size_t)512 << 10)

#define RECORDS_AT_ONCE 64

void sparse_span_init(sparse_span *span, const sparse_place *place)
{
    memset(span, 0, sizeof *span);
    span->place = place;
    buffer_init(&span->data, place->allocator);
    buffer_init(&span->keys, place->allocator);
}

void sparse_span_release(sparse_span *span)
{
    record_reader_close(span->reader);
    buffer_release(&span->data);
    buffer_release(&span->keys);
    memory_free(span->place->allocator, span->records,
                span->capacity * sizeof *span->records);
}

size_t sparse_span_find(const sparse_span *span, sorted_key key)
{
    size_t low = 0;
    size_t high = span->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted_key_compare(sparse_span_key(span, middle), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static ksv_status keep_record(sparse_span *span, const scan_record *record,
                              ksv_error *error)
{
    void *items = span->records;
    ksv_status status =
        memory_grow(span->place->allocator, &items, &span->capacity,
                    span->count + 1, sizeof *span->records, error);
    span->records = items;
    KSV_TRY(status);
    span->records[span->count++] = (span_record){
        .payload = record->offset - span->place->part.first_offset,
        .key_at = span->keys.size,
        .key_bytes = record->key_bytes};
    return buffer_append(&span->keys, record->key, record->key_bytes, error);
}

static ksv_status split(sparse_span *span, ksv_error *error)
{
    scan_record records[RECORDS_AT_ONCE];
    size_t count;
    record_reader_feed(span->reader, span->data.data, span->data.size, true);
    do {
        KSV_TRY(record_reader_next(span->reader, records, RECORDS_AT_ONCE,
                                   &count, error));
        for (size_t i = 0; i < count; i++)
            if (records[i].kind == SCAN_RECORD_KEYED)
                KSV_TRY(keep_record(span, &records[i], error));
    } while (count > 0);
    return KSV_OK;
}

/* Whether the records can be those that were indexed. */
static bool is_expected(const sparse_span *span, sorted_key key)
{
    if (span->count == 0 || span->records[0].payload != span->first ||
        sorted_key_compare(sparse_span_key(span, 0), key) != 0)
        return false;
    for (size_t i = 1; i < span->count; i++)
        if (sorted_key_compare(sparse_span_key(span, i - 1),
                               sparse_span_key(span, i)) > 0)
            return false;
    return true;
}

static ksv_status read_bytes(sparse_span *span, const data_source *source,
                             bool *is_short, ksv_error *error)
{
    size_t size = (size_t)(span->end - span->first);
    datafile_cost cost = {0, 0, 0};
    buffer_clear(&span->data);
    if (span->data.capacity > KEPT_BYTES && size <= KEPT_BYTES) {
        buffer_release(&span->data);
        buffer_init(&span->data, span->place->allocator);
    }
    KSV_TRY(buffer_reserve(&span->data, size, error));
    ksv_error unwanted;
    ksv_error *told = error != NULL ? error : &unwanted;
    ksv_status status = datafile_read_at(
        source->file, span->place->part.first_offset + span->first,
        span->data.data, size, &span->data.size, &cost, told);
    span->reads += cost.reads;
    span->bytes_read += cost.bytes_read;
    *is_short = span->data.size < size;
    return status == KSV_OK
               ? KSV_OK
               : segment_data_error(source->facts, source->path, told);
}

static ksv_status read_records(sparse_span *span, const data_source *source,
                               sorted_key key, ksv_error *error)
{
    const sparse_place *place = span->place;
    const catalog_file *facts = source->facts;
    bool is_short;
    KSV_TRY(read_bytes(span, source, &is_short, error));
    if (is_short)
        return file_identity_error(facts, FILE_IDENTITY_CHANGED, error);
    if (span->reader == NULL)
        KSV_TRY(record_reader_open(place->data->spec, false, place->allocator,
                                   &span->reader, error));
    ksv_status status =
        record_reader_begin_at(span->reader, facts->layout, facts->layout_bytes,
                               place->part.first_offset + span->first, error);
    if (status == KSV_OK)
        status = split(span, error);
    if (status == KSV_ERROR_DATA ||
        (status == KSV_OK && !is_expected(span, key)))
        return file_identity_error(facts, FILE_IDENTITY_CHANGED, error);
    return status;
}

static ksv_status set_corrupt(ksv_error *error)
{
    return error_set(error, KSV_ERROR_CORRUPT, NULL,
                     "index file is damaged: a span of records that cannot be");
}

ksv_status sparse_span_load(sparse_span *span, uint64_t first, uint64_t end,
                            sorted_key key, ksv_error *error)
{
    const table_data *data = span->place->data;
    if (first >= end || end > sparse_limit(span->place) ||
        end - first > SPARSE_SPAN_MOST_BYTES)
        return set_corrupt(error);
    if (data == NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "the records of a sparse table are in its data");
    data_source source;
    KSV_TRY(data->open(data, &span->place->part, &source, error));
    span->files_opened += source.was_opened;
    ksv_status status = KSV_OK;
    if (!span->is_loaded || span->first != first || span->end != end) {
        span->is_loaded = false;
        span->count = 0;
        span->first = first;
        span->end = end;
        buffer_clear(&span->keys);
        status = read_records(span, &source, key, error);
        span->is_loaded = status == KSV_OK;
    }
    data->close(data, &source);
    return status;
}
