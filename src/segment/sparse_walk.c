/* SPDX-License-Identifier: MIT */
/* Goes over all records that a sparse table leads to, and checks the table. */
#include "segment/sparse_walk.h"

#include "base/error.h"
#include "segment/keyed_table.h"
#include "sorted/sorted_iterator.h"

typedef struct sparse_walk {
    table_walk base;
    const sparse_place *place;
    const catalog_parameters *parameters;
    sorted_iterator *iterator;
    sparse_span span;
    size_t at; /* the next record of the span */
    /* The entry that the iterator gave last. */
    bool is_begun;
    bool has_entry;
    byte_buffer key;
    uint64_t payload;
    byte_buffer last; /* key that was given */
} sparse_walk;

static ksv_status copy_key(byte_buffer *to, sorted_key key, ksv_error *error)
{
    buffer_clear(to);
    return buffer_append(to, key.data, key.size_bytes, error);
}

static ksv_status pull(sparse_walk *w, ksv_error *error)
{
    sorted_key key = {NULL, 0};
    bool end;
    w->has_entry = false;
    KSV_TRY(sorted_iterator_next(w->iterator, &key, &w->payload, &end, error));
    if (end)
        return KSV_OK;
    w->has_entry = true;
    return copy_key(&w->key, key, error);
}

static ksv_status begin(sparse_walk *w, ksv_error *error)
{
    if (w->is_begun)
        return KSV_OK;
    w->is_begun = true;
    return pull(w, error);
}

static void give(const sparse_walk *w, sorted_key key, uint64_t payload,
                 table_entry *entry)
{
    *entry = (table_entry){
        .hash = keyed_table_hash(w->parameters, key.data, key.size_bytes),
        .payload = payload,
        .key = key.data,
        .key_bytes = key.size_bytes};
}

/* Loads the span of the entry that was pulled, and pulls the next one. Its key
 * is that of the span, which has to come after those before. */
static ksv_status load_next(sparse_walk *w, bool *end, ksv_error *error)
{
    *end = true;
    while (w->has_entry && w->payload >= sparse_limit(w->place))
        KSV_TRY(pull(w, error));
    if (!w->has_entry)
        return KSV_OK;
    uint64_t first = w->payload;
    sorted_key before = {w->last.data, w->last.size};
    sorted_key key = {w->key.data, w->key.size};
    if (w->span.is_loaded && sorted_key_compare(before, key) > 0)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "index file is damaged: records out of order");
    KSV_TRY(copy_key(&w->last, key, error));
    KSV_TRY(pull(w, error));
    uint64_t limit = sparse_limit(w->place);
    if (w->has_entry && w->payload < limit)
        limit = w->payload;
    key = (sorted_key){w->last.data, w->last.size};
    KSV_TRY(sparse_span_load(&w->span, first, limit, key, error));
    w->at = 0;
    *end = false;
    return copy_key(&w->last, sparse_span_key(&w->span, w->span.count - 1),
                    error);
}

static ksv_status next_record(table_walk *walk, table_entry *entry, bool *end,
                              ksv_error *error)
{
    sparse_walk *w = (sparse_walk *)walk;
    *end = false;
    KSV_TRY(begin(w, error));
    if (w->at == w->span.count)
        KSV_TRY(load_next(w, end, error));
    if (*end)
        return KSV_OK;
    size_t at = w->at++;
    give(w, sparse_span_key(&w->span, at), w->span.records[at].payload, entry);
    return KSV_OK;
}

static ksv_status next_entry(table_walk *walk, table_entry *entry, bool *end,
                             ksv_error *error)
{
    sparse_walk *w = (sparse_walk *)walk;
    KSV_TRY(begin(w, error));
    *end = !w->has_entry;
    if (*end)
        return KSV_OK;
    KSV_TRY(copy_key(&w->last, (sorted_key){w->key.data, w->key.size}, error));
    give(w, (sorted_key){w->last.data, w->last.size}, w->payload, entry);
    return pull(w, error);
}

static void close(table_walk *walk)
{
    sparse_walk *w = (sparse_walk *)walk;
    sorted_iterator_close(w->iterator);
    sparse_span_release(&w->span);
    buffer_release(&w->key);
    buffer_release(&w->last);
    memory_free(w->place->allocator, w, sizeof *w);
}

ksv_status sparse_walk_open(sorted_reader *reader, const sparse_place *place,
                            const catalog_parameters *parameters,
                            size_t buffer_bytes, table_walk **out,
                            ksv_error *error)
{
    *out = NULL;
    sparse_walk *w = memory_zalloc(place->allocator, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->base.next = place->data != NULL ? next_record : next_entry;
    w->base.close = close;
    w->base.is_partial = place->data == NULL;
    w->base.leaves_dead = place->data != NULL;
    w->place = place;
    w->parameters = parameters;
    sparse_span_init(&w->span, place);
    buffer_init(&w->key, place->allocator);
    buffer_init(&w->last, place->allocator);
    ksv_status status =
        sorted_iterator_open(reader, buffer_bytes, &w->iterator, error);
    if (status != KSV_OK) {
        close(&w->base);
        return status;
    }
    *out = &w->base;
    return KSV_OK;
}
