/* SPDX-License-Identifier: MIT */
/* The organisation by keys in LMDB: a tree of (key, payload) a segment. */
#include "base/error.h"
#include "base/memory.h"
#include "btree/tree_check.h"
#include "btree/tree_cursor.h"
#include "io/file.h"
#include "segment/keyed_join.h"
#include "segment/keyed_table.h"
#include "segment/sorted_collector.h"
#include "segment/tree_segment.h"

typedef struct btree_table {
    keyed_table keyed;
    tree_reader *reader;
} btree_table;

static ksv_status cursor_open(const segment_table *table, void **cursor,
                              ksv_error *error)
{
    const btree_table *t = table->own;
    tree_cursor *opened = NULL;
    ksv_status status = tree_cursor_open(t->reader, &opened, error);
    *cursor = opened;
    return status;
}

static void cursor_close(void *cursor)
{
    tree_cursor_close(cursor);
}

static ksv_status cursor_move(void *cursor, table_move where,
                              const table_key *key, bool *found,
                              ksv_error *error)
{
    const tree_key wanted = {key->data, key->bytes};
    switch (where) {
    case TABLE_FIRST:
        return tree_cursor_first(cursor, found, error);
    case TABLE_LAST:
        return tree_cursor_last(cursor, found, error);
    case TABLE_SEEK:
        return tree_cursor_seek(cursor, wanted, found, error);
    case TABLE_SEEK_BEFORE:
        return tree_cursor_seek_before(cursor, wanted, found, error);
    case TABLE_NEXT:
        return tree_cursor_next(cursor, found, error);
    case TABLE_PREVIOUS:
        return tree_cursor_previous(cursor, found, error);
    }
    *found = false;
    return KSV_OK;
}

typedef struct payload_visit {
    ksv_payload_fn visit;
    void *ctx;
} payload_visit;

/* A tree_place_fn. */
static bool visit_place(void *ctx, tree_place place)
{
    const payload_visit *v = ctx;
    return v->visit(v->ctx, place.offset);
}

static ksv_status cursor_find(void *cursor, const table_key *key,
                              ksv_payload_fn visit, void *ctx, ksv_error *error)
{
    payload_visit payloads = {visit, ctx};
    const tree_key wanted = {key->data, key->bytes};
    return tree_cursor_find(cursor, wanted, visit_place, &payloads, error);
}

static void cursor_forget(void *cursor)
{
    tree_cursor_forget(cursor);
}

static table_cost cursor_cost(const void *cursor)
{
    tree_cost cost = tree_cursor_cost(cursor);
    return (table_cost){.pages = cost.blocks, .bytes = cost.bytes};
}

static table_entry cursor_entry(const void *cursor)
{
    tree_key key = tree_cursor_key(cursor);
    return (table_entry){.key = key.data,
                         .key_bytes = key.size_bytes,
                         .payload = tree_cursor_place(cursor).offset};
}

static const keyed_ops OPS = {cursor_open, cursor_close,  cursor_move,
                              cursor_find, cursor_forget, cursor_cost,
                              cursor_entry};

static ksv_status open_reader(const segment_place *place,
                              const catalog_segment *segment,
                              const segment_table *table, btree_table *t,
                              ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(segment->id, CATALOG_TREE_ENDING, name);
    tree_reader_options options = {
        .allocator = place->allocator, .path = name, .file = table->file};
    segment_sidecar_id(place->parameters, segment->id, CATALOG_TREE_ENDING,
                       options.id);
    return tree_reader_open(&options, &t->reader, error);
}

static ksv_status open_table(const segment_place *place,
                             const catalog_segment *segment, segment_table *out,
                             ksv_error *error)
{
    btree_table *t = memory_zalloc(place->allocator, sizeof *t);
    if (t == NULL)
        return error_set_memory(error);
    t->keyed.ops = &OPS;
    out->own = t;
    KSV_TRY(open_reader(place, segment, out, t, error));
    tree_info info;
    tree_reader_get_info(t->reader, &info);
    const catalog_parameters *p = place->parameters;
    return segment_check_table_identity(place, segment, &p->hasher,
                                        p->hash_bits, info.id, info.file_bytes,
                                        info.entries, error);
}

static void close_table(segment_table *table)
{
    btree_table *t = table->own;
    if (t == NULL)
        return;
    keyed_table_release(&t->keyed);
    tree_reader_close(t->reader);
    memory_free(table->allocator, t, sizeof *t);
}

typedef struct btree_walk {
    table_walk base;
    const segment_table *table;
    tree_cursor *cursor;
    bool has_begun;
} btree_walk;

static ksv_status next(table_walk *walk, table_entry *entry, bool *end,
                       ksv_error *error)
{
    btree_walk *w = (btree_walk *)walk;
    bool found;
    ksv_status status = w->has_begun
                            ? tree_cursor_next(w->cursor, &found, error)
                            : tree_cursor_first(w->cursor, &found, error);
    w->has_begun = true;
    KSV_TRY(status);
    *end = !found;
    if (*end)
        return KSV_OK;
    *entry = cursor_entry(w->cursor);
    entry->hash =
        keyed_table_hash(w->table->parameters, entry->key, entry->key_bytes);
    return KSV_OK;
}

static void close_walk(table_walk *walk)
{
    btree_walk *w = (btree_walk *)walk;
    tree_cursor_close(w->cursor);
    memory_free(w->table->allocator, w, sizeof *w);
}

static ksv_status open_walk(const segment_table *table, size_t pages,
                            table_walk **out, ksv_error *error)
{
    (void)pages; /* one block, and those above it */
    *out = NULL;
    const btree_table *t = table->own;
    btree_walk *w = memory_zalloc(table->allocator, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->base.next = next;
    w->base.close = close_walk;
    w->table = table;
    ksv_status status = tree_cursor_open(t->reader, &w->cursor, error);
    if (status != KSV_OK) {
        close_walk(&w->base);
        return status;
    }
    *out = &w->base;
    return KSV_OK;
}

static ksv_status check(const segment_table *table, ksv_error *error)
{
    const btree_table *t = table->own;
    return tree_check(t->reader, NULL, NULL, NULL, error);
}

static ksv_status open_collector(const collector_options *options,
                                 segment_collector **out, ksv_error *error)
{
    return sorted_collector_open_for(options, tree_segment_write, out, error);
}

static ksv_status write_merged(const segment_place *place, segment_merge *merge,
                               join_step_fn joined, void *step_ctx,
                               catalog_segment *out, segment_files *files,
                               ksv_error *error)
{
    return keyed_join_write(place, merge, tree_segment_write, joined, step_ctx,
                            out, files, error);
}

const organisation organisation_btree = {.kind = KSV_ORGANISATION_BTREE,
                                         .name = "btree",
                                         .keeps_keys = true,
                                         .open_table = open_table,
                                         .close_table = close_table,
                                         .find = keyed_table_find,
                                         .walk = open_walk,
                                         .check = check,
                                         .open_cursor = keyed_table_open_cursor,
                                         .open_collector = open_collector,
                                         .write_merged = write_merged};
