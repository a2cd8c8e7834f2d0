/* SPDX-License-Identifier: MIT */
/* The organisation by keys of data that is in their order itself: the table has
 * one entry for each span of records, whose keys are read from the data. */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "segment/organisation_sparse.h"
#include "segment/sorted_collector.h"
#include "segment/sparse_cursor.h"
#include "segment/sparse_walk.h"

#define WALK_PAGE_BYTES 4096

typedef struct sparse_table {
    sorted_reader *reader;
    sparse_place place;
    /* Of a search that has ended, with what it read last; or NULL. */
    _Atomic(sparse_cursor *) spare;
} sparse_table;

/* One part, and behind it what was of it before the file has grown. */
static bool is_possible(const catalog_segment *segment, const sorted_info *info)
{
    for (size_t i = 1; i < segment->part_count; i++)
        if (!segment->parts[i].is_dead)
            return false;
    return segment->part_count > 0 && info->entries <= segment->entries;
}

ksv_status sparse_table_adopt(const segment_place *place,
                              const catalog_segment *segment,
                              sorted_reader *reader, segment_table *out,
                              ksv_error *error)
{
    sorted_info info;
    sorted_reader_get_info(reader, &info);
    sparse_table *t = memory_zalloc(place->allocator, sizeof *t);
    if (t == NULL) {
        sorted_reader_close(reader);
        return error_set_memory(error);
    }
    t->reader = reader;
    out->organisation = &organisation_sparse;
    out->own = t;
    if (!is_possible(segment, &info))
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "index file is damaged: a table that belongs to other "
                         "data");
    t->place = (sparse_place){place->allocator, place->data, segment->parts[0]};
    const catalog_parameters *p = place->parameters;
    return segment_check_table_identity(
        place, segment, &p->hasher, p->hash_bits, info.options.id,
        info.file_bytes, segment->entries, error);
}

static void close_table(segment_table *table)
{
    sparse_table *t = table->own;
    if (t == NULL)
        return;
    sparse_cursor_close(atomic_load(&t->spare));
    sorted_reader_close(t->reader);
    memory_free(table->allocator, t, sizeof *t);
}

static ksv_status take_cursor(sparse_table *t, sparse_cursor **out,
                              ksv_error *error)
{
    *out = atomic_exchange(&t->spare, NULL);
    return *out != NULL ? KSV_OK
                        : sparse_cursor_open(t->reader, &t->place, out, error);
}

static void give_cursor_back(sparse_table *t, sparse_cursor *cursor)
{
    sparse_cursor *none = NULL;
    if (!atomic_compare_exchange_strong(&t->spare, &none, cursor))
        sparse_cursor_close(cursor);
}

static ksv_status find(const segment_table *table, const table_key *key,
                       ksv_payload_fn visit, void *ctx, table_cost *cost,
                       ksv_error *error)
{
    sparse_table *t = table->own;
    sparse_cursor *cursor;
    KSV_TRY(take_cursor(t, &cursor, error));
    if (!key->may_share)
        sparse_cursor_forget(cursor);
    table_cost before = sparse_cursor_cost(cursor);
    sorted_key wanted = {key->data, key->bytes};
    ksv_status status = sparse_cursor_find(cursor, wanted, visit, ctx, error);
    table_cost after = sparse_cursor_cost(cursor);
    table_cost_add(cost, &after, &before);
    give_cursor_back(t, cursor);
    return status;
}

static ksv_status open_walk(const segment_table *table, size_t pages,
                            table_walk **out, ksv_error *error)
{
    const sparse_table *t = table->own;
    return sparse_walk_open(t->reader, &t->place, table->parameters,
                            pages * WALK_PAGE_BYTES, out, error);
}

typedef struct sparse_place_cursor {
    table_cursor base;
    const ksv_allocator *allocator;
    sparse_cursor *cursor;
} sparse_place_cursor;

static ksv_status move(table_cursor *cursor, table_move where,
                       const table_key *key, bool *found, ksv_error *error)
{
    sparse_place_cursor *c = (sparse_place_cursor *)cursor;
    sorted_key wanted = {NULL, 0};
    if (key != NULL)
        wanted = (sorted_key){key->data, key->bytes};
    ksv_status status =
        sparse_cursor_move(c->cursor, where, wanted, found, error);
    cursor->cost = sparse_cursor_cost(c->cursor);
    if (status != KSV_OK || !*found)
        return status;
    sorted_key at = sparse_cursor_key(c->cursor);
    cursor->entry = (table_entry){.key = at.data,
                                  .key_bytes = at.size_bytes,
                                  .payload = sparse_cursor_payload(c->cursor)};
    return KSV_OK;
}

static void close_cursor(table_cursor *cursor)
{
    sparse_place_cursor *c = (sparse_place_cursor *)cursor;
    sparse_cursor_close(c->cursor);
    memory_free(c->allocator, c, sizeof *c);
}

static ksv_status open_cursor(const segment_table *table, table_cursor **out,
                              ksv_error *error)
{
    *out = NULL;
    const sparse_table *t = table->own;
    sparse_place_cursor *c = memory_zalloc(table->allocator, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    c->base.move = move;
    c->base.close = close_cursor;
    c->allocator = table->allocator;
    ksv_status status =
        sparse_cursor_open(t->reader, &t->place, &c->cursor, error);
    if (status != KSV_OK) {
        close_cursor(&c->base);
        return status;
    }
    *out = &c->base;
    return KSV_OK;
}

static ksv_status append_key(const sorted_cursor *cursor, byte_buffer *to,
                             ksv_error *error)
{
    sorted_key key = sorted_cursor_key(cursor);
    return buffer_append(to, key.data, key.size_bytes, error);
}

ksv_status sorted_table_bounds(sorted_reader *reader, byte_buffer *low,
                               byte_buffer *high, ksv_error *error)
{
    sorted_cursor *cursor;
    bool found;
    KSV_TRY(sorted_cursor_open(reader, &cursor, error));
    ksv_status status = sorted_cursor_first(cursor, &found, error);
    if (status == KSV_OK && found)
        status = append_key(cursor, low, error);
    if (status == KSV_OK && found)
        status = sorted_cursor_last(cursor, &found, error);
    if (status == KSV_OK && found)
        status = append_key(cursor, high, error);
    sorted_cursor_close(cursor);
    return status;
}

static ksv_status bounds(const segment_table *table, byte_buffer *low,
                         byte_buffer *high, ksv_error *error)
{
    const sparse_table *t = table->own;
    return sorted_table_bounds(t->reader, low, high, error);
}

const organisation organisation_sparse = {.kind = KSV_ORGANISATION_SORTED,
                                          .name = "sorted",
                                          .table_ending = CATALOG_SORTED_ENDING,
                                          .keeps_keys = true,
                                          .close_table = close_table,
                                          .find = find,
                                          .walk = open_walk,
                                          .open_cursor = open_cursor,
                                          .bounds = bounds,
                                          .open_collector =
                                              sorted_collector_open};
