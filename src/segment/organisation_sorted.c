/* SPDX-License-Identifier: MIT */
/* The organisation by keys: sorted tables of (key, payload). */
#include "base/error.h"
#include "base/memory.h"
#include "segment/keyed_join.h"
#include "segment/keyed_table.h"
#include "segment/organisation_sparse.h"
#include "segment/sorted_collector.h"
#include "sorted/sorted_cursor.h"
#include "sorted/sorted_iterator.h"

/* Bytes that a walk reads at once are those of so many pages. */
#define WALK_PAGE_BYTES 4096

typedef struct sorted_table {
    keyed_table keyed;
    sorted_reader *reader;
} sorted_table;

static ksv_status cursor_open(const segment_table *table, void **cursor,
                              ksv_error *error)
{
    const sorted_table *t = table->own;
    sorted_cursor *opened = NULL;
    ksv_status status = sorted_cursor_open(t->reader, &opened, error);
    *cursor = opened;
    return status;
}

static void cursor_close(void *cursor)
{
    sorted_cursor_close(cursor);
}

static ksv_status cursor_move(void *cursor, table_move where,
                              const table_key *key, bool *found,
                              ksv_error *error)
{
    const sorted_key wanted = {key->data, key->bytes};
    switch (where) {
    case TABLE_FIRST:
        return sorted_cursor_first(cursor, found, error);
    case TABLE_LAST:
        return sorted_cursor_last(cursor, found, error);
    case TABLE_SEEK:
        return sorted_cursor_seek(cursor, wanted, found, error);
    case TABLE_SEEK_BEFORE:
        return sorted_cursor_seek_before(cursor, wanted, found, error);
    case TABLE_NEXT:
        return sorted_cursor_next(cursor, found, error);
    case TABLE_PREVIOUS:
        return sorted_cursor_previous(cursor, found, error);
    }
    *found = false;
    return KSV_OK;
}

static ksv_status cursor_find(void *cursor, const table_key *key,
                              ksv_payload_fn visit, void *ctx, ksv_error *error)
{
    const sorted_key wanted = {key->data, key->bytes};
    return sorted_cursor_find(cursor, wanted, visit, ctx, error);
}

static void cursor_forget(void *cursor)
{
    sorted_cursor_forget(cursor);
}

static table_cost cursor_cost(const void *cursor)
{
    return (table_cost){.pages = sorted_cursor_blocks_read(cursor),
                        .bytes = sorted_cursor_bytes_read(cursor)};
}

static table_entry cursor_entry(const void *cursor)
{
    sorted_key key = sorted_cursor_key(cursor);
    return (table_entry){.key = key.data,
                         .key_bytes = key.size_bytes,
                         .payload = sorted_cursor_payload(cursor)};
}

static const keyed_ops OPS = {cursor_open, cursor_close,  cursor_move,
                              cursor_find, cursor_forget, cursor_cost,
                              cursor_entry};

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
    t->keyed.ops = &OPS;
    t->reader = reader;
    out->own = t;
    return check_identity(place, segment, &info, error);
}

static void close_table(segment_table *table)
{
    sorted_table *t = table->own;
    if (t == NULL)
        return;
    keyed_table_release(&t->keyed);
    sorted_reader_close(t->reader);
    memory_free(table->allocator, t, sizeof *t);
}

typedef struct sorted_walk {
    table_walk base;
    const segment_table *table;
    sorted_iterator *iterator;
} sorted_walk;

static ksv_status next(table_walk *walk, table_entry *entry, bool *end,
                       ksv_error *error)
{
    sorted_walk *w = (sorted_walk *)walk;
    sorted_key key = {NULL, 0};
    KSV_TRY(
        sorted_iterator_next(w->iterator, &key, &entry->payload, end, error));
    if (*end)
        return KSV_OK;
    entry->hash =
        keyed_table_hash(w->table->parameters, key.data, key.size_bytes);
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

static ksv_status bounds(const segment_table *table, byte_buffer *low,
                         byte_buffer *high, ksv_error *error)
{
    const sorted_table *t = table->own;
    return sorted_table_bounds(t->reader, low, high, error);
}

static ksv_status write_merged(const segment_place *place, segment_merge *merge,
                               join_step_fn joined, void *step_ctx,
                               catalog_segment *out, segment_files *files,
                               ksv_error *error)
{
    return keyed_join_write(place, merge, sorted_segment_write, joined,
                            step_ctx, out, files, error);
}

const organisation organisation_sorted = {
    .kind = KSV_ORGANISATION_SORTED,
    .name = "sorted",
    .keeps_keys = true,
    .open_table = open_table,
    .close_table = close_table,
    .find = keyed_table_find,
    .walk = open_walk,
    .open_cursor = keyed_table_open_cursor,
    .bounds = bounds,
    .open_collector = sorted_collector_open,
    .write_merged = write_merged};
