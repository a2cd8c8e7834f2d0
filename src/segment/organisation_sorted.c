/* SPDX-License-Identifier: MIT */
/* The organisation by keys: sorted tables of (key, payload). */
#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "segment/organisation.h"
#include "segment/organisation_sparse.h"
#include "segment/sorted_collector.h"
#include "sorted/sorted_cursor.h"
#include "sorted/sorted_iterator.h"

/* Bytes that a walk reads at once are those of so many pages. */
#define WALK_PAGE_BYTES 4096

/* Of a merge, for the hashes of its keys. */
#define MERGE_HASHES_BYTES ((uint64_t)16 << 20)

typedef struct sorted_table {
    sorted_reader *reader;
    /* Of a search that has ended, with the block that it read last; or NULL. */
    _Atomic(sorted_cursor *) spare;
} sorted_table;

static ksv_status check_identity(const segment_place *place,
                                 const catalog_segment *segment,
                                 const sorted_info *info, ksv_error *error)
{
    const catalog_parameters *p = place->parameters;
    return segment_check_table_identity(place, segment, &p->hasher,
                                        p->hash_bits, info->options.id,
                                        info->file_bytes, info->entries, error);
}

static ksv_status open_table(const segment_place *place,
                             const catalog_segment *segment, segment_table *out,
                             ksv_error *error)
{
    sorted_reader *reader;
    sorted_info info;
    KSV_TRY(sorted_reader_open(out->file, place->allocator, &reader, error));
    sorted_reader_get_info(reader, &info);
    if (info.options.sparse)
        return sparse_table_adopt(place, segment, reader, out, error);
    sorted_table *t = memory_zalloc(place->allocator, sizeof *t);
    if (t == NULL) {
        sorted_reader_close(reader);
        return error_set_memory(error);
    }
    t->reader = reader;
    out->own = t;
    return check_identity(place, segment, &info, error);
}

static void close_table(segment_table *table)
{
    sorted_table *t = table->own;
    if (t == NULL)
        return;
    sorted_cursor_close(atomic_load(&t->spare));
    sorted_reader_close(t->reader);
    memory_free(table->allocator, t, sizeof *t);
}

static ksv_status take_cursor(sorted_table *t, sorted_cursor **out,
                              ksv_error *error)
{
    *out = atomic_exchange(&t->spare, NULL);
    return *out != NULL ? KSV_OK : sorted_cursor_open(t->reader, out, error);
}

static void give_cursor_back(sorted_table *t, sorted_cursor *cursor)
{
    sorted_cursor *none = NULL;
    if (!atomic_compare_exchange_strong(&t->spare, &none, cursor))
        sorted_cursor_close(cursor);
}

static table_cost cost_of(const sorted_cursor *cursor)
{
    return (table_cost){.pages = sorted_cursor_blocks_read(cursor),
                        .bytes = sorted_cursor_bytes_read(cursor)};
}

static ksv_status find(const segment_table *table, const table_key *key,
                       ksv_payload_fn visit, void *ctx, table_cost *cost,
                       ksv_error *error)
{
    sorted_table *t = table->own;
    sorted_cursor *cursor;
    KSV_TRY(take_cursor(t, &cursor, error));
    if (!key->may_share)
        sorted_cursor_forget(cursor);
    table_cost before = cost_of(cursor);
    sorted_key wanted = {key->data, key->bytes};
    ksv_status status = sorted_cursor_find(cursor, wanted, visit, ctx, error);
    table_cost after = cost_of(cursor);
    table_cost_add(cost, &after, &before);
    give_cursor_back(t, cursor);
    return status;
}

typedef struct sorted_walk {
    table_walk base;
    const segment_table *table;
    sorted_iterator *iterator;
} sorted_walk;

static uint64_t hash_of(const segment_table *table, const sorted_key *key)
{
    const catalog_parameters *p = table->parameters;
    uint64_t hash = ksv_hash(&p->hasher, key->data, key->size_bytes);
    return ksv_hash_truncate(hash, p->hash_bits);
}

static ksv_status next(table_walk *walk, table_entry *entry, bool *end,
                       ksv_error *error)
{
    sorted_walk *w = (sorted_walk *)walk;
    sorted_key key = {NULL, 0};
    KSV_TRY(
        sorted_iterator_next(w->iterator, &key, &entry->payload, end, error));
    if (*end)
        return KSV_OK;
    entry->hash = hash_of(w->table, &key);
    entry->key = key.data;
    entry->key_bytes = key.size_bytes;
    return KSV_OK;
}

static void close_walk(table_walk *walk)
{
    sorted_walk *w = (sorted_walk *)walk;
    sorted_iterator_close(w->iterator);
    memory_free(w->table->allocator, w, sizeof *w);
}

static ksv_status open_walk(const segment_table *table, size_t pages,
                            table_walk **out, ksv_error *error)
{
    *out = NULL;
    const sorted_table *t = table->own;
    sorted_walk *w = memory_zalloc(table->allocator, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->base.next = next;
    w->base.close = close_walk;
    w->table = table;
    ksv_status status = sorted_iterator_open(t->reader, pages * WALK_PAGE_BYTES,
                                             &w->iterator, error);
    if (status != KSV_OK) {
        close_walk(&w->base);
        return status;
    }
    *out = &w->base;
    return KSV_OK;
}

typedef struct sorted_place_cursor {
    table_cursor base;
    const ksv_allocator *allocator;
    sorted_cursor *cursor;
} sorted_place_cursor;

static ksv_status step(sorted_cursor *cursor, table_move where, sorted_key key,
                       bool *found, ksv_error *error)
{
    switch (where) {
    case TABLE_FIRST:
        return sorted_cursor_first(cursor, found, error);
    case TABLE_LAST:
        return sorted_cursor_last(cursor, found, error);
    case TABLE_SEEK:
        return sorted_cursor_seek(cursor, key, found, error);
    case TABLE_SEEK_BEFORE:
        return sorted_cursor_seek_before(cursor, key, found, error);
    case TABLE_NEXT:
        return sorted_cursor_next(cursor, found, error);
    case TABLE_PREVIOUS:
        return sorted_cursor_previous(cursor, found, error);
    }
    *found = false;
    return KSV_OK;
}

static ksv_status move(table_cursor *cursor, table_move where,
                       const table_key *key, bool *found, ksv_error *error)
{
    sorted_place_cursor *c = (sorted_place_cursor *)cursor;
    sorted_key wanted = {NULL, 0};
    if (key != NULL)
        wanted = (sorted_key){key->data, key->bytes};
    ksv_status status = step(c->cursor, where, wanted, found, error);
    cursor->cost = cost_of(c->cursor);
    if (status != KSV_OK || !*found)
        return status;
    sorted_key at = sorted_cursor_key(c->cursor);
    cursor->entry = (table_entry){.key = at.data,
                                  .key_bytes = at.size_bytes,
                                  .payload = sorted_cursor_payload(c->cursor)};
    return KSV_OK;
}

static void close_cursor(table_cursor *cursor)
{
    sorted_place_cursor *c = (sorted_place_cursor *)cursor;
    sorted_cursor_close(c->cursor);
    memory_free(c->allocator, c, sizeof *c);
}

static ksv_status open_cursor(const segment_table *table, table_cursor **out,
                              ksv_error *error)
{
    *out = NULL;
    const sorted_table *t = table->own;
    sorted_place_cursor *c = memory_zalloc(table->allocator, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    c->base.move = move;
    c->base.close = close_cursor;
    c->allocator = table->allocator;
    ksv_status status = sorted_cursor_open(t->reader, &c->cursor, error);
    if (status != KSV_OK) {
        close_cursor(&c->base);
        return status;
    }
    *out = &c->base;
    return KSV_OK;
}

static ksv_status bounds(const segment_table *table, byte_buffer *low,
                         byte_buffer *high, ksv_error *error)
{
    const sorted_table *t = table->own;
    return sorted_table_bounds(t->reader, low, high, error);
}

/* What a merge gives, with the hashes of the keys set aside for the filter. */
typedef struct merged_source {
    segment_merge *merge;
    entry_adder *hashes;
    join_step_fn step;
    void *step_ctx;
    bool has_last;
    uint64_t last_hash;
    uint64_t untold; /* entries since the last step */
} merged_source;

#define STEP_ENTRIES 1024

static ksv_status next_merged(void *ctx, sorted_key *key, uint64_t *payload,
                              bool *end, ksv_error *error)
{
    merged_source *s = ctx;
    table_entry entry;
    KSV_TRY(segment_merge_next(s->merge, &entry, end, error));
    if (*end)
        return KSV_OK;
    *key = (sorted_key){entry.key, entry.key_bytes};
    *payload = entry.payload;
    if (!s->has_last || entry.hash != s->last_hash)
        KSV_TRY(entry_adder_add(s->hashes, entry.hash, 0, error));
    s->has_last = true;
    s->last_hash = entry.hash;
    if (++s->untold < STEP_ENTRIES)
        return KSV_OK;
    s->untold = 0;
    return s->step(s->step_ctx, STEP_ENTRIES, error);
}

static ksv_status write_with(const segment_place *place, segment_merge *merge,
                             entry_sorter *hashes, join_step_fn joined,
                             void *step_ctx, catalog_segment *out,
                             segment_files *files, ksv_error *error)
{
    merged_source source = {.merge = merge,
                            .hashes = entry_sorter_adder(hashes, 0),
                            .step = joined,
                            .step_ctx = step_ctx};
    const sorted_source in_order = {next_merged, &source, NULL, 0, false};
    uint64_t keys;
    KSV_TRY(sorted_segment_write(place, &in_order, out, files, &keys, error));
    KSV_TRY(entry_sorter_finish(hashes, place->parameters->hash_bits, NULL, 0,
                                error));
    return segment_write_filter_of(place, hashes, keys, out, files, error);
}

static ksv_status write_merged(const segment_place *place, segment_merge *merge,
                               join_step_fn joined, void *step_ctx,
                               catalog_segment *out, segment_files *files,
                               ksv_error *error)
{
    collector_options options = {.place = place, .id = out->id, .adders = 1};
    entry_sorter *hashes;
    KSV_TRY(
        collector_open_sorter(&options, MERGE_HASHES_BYTES, &hashes, error));
    ksv_status status =
        write_with(place, merge, hashes, joined, step_ctx, out, files, error);
    entry_sorter_close(hashes);
    return status;
}

const organisation organisation_sorted = {.kind = KSV_ORGANISATION_SORTED,
                                          .name = "sorted",
                                          .table_ending = CATALOG_SORTED_ENDING,
                                          .keeps_keys = true,
                                          .open_table = open_table,
                                          .close_table = close_table,
                                          .find = find,
                                          .walk = open_walk,
                                          .open_cursor = open_cursor,
                                          .bounds = bounds,
                                          .open_collector =
                                              sorted_collector_open,
                                          .write_merged = write_merged};
