/* SPDX-License-Identifier: MIT */
/* The organisation by keys of data that is in their order itself: the table has
 * one entry for each span of records, whose keys are read from the data. */
#include "segment/organisation_sparse.h"
#include "base/error.h"
#include "segment/keyed_table.h"
#include "segment/sparse_cursor.h"
#include "segment/sparse_walk.h"

#define WALK_PAGE_BYTES 4096

typedef struct sparse_table {
    keyed_table keyed;
    sorted_reader *reader;
    sparse_place place;
} sparse_table;

static ksv_status cursor_open(const segment_table *table, void **cursor,
                              ksv_error *error)
{
    const sparse_table *t = table->own;
    sparse_cursor *opened = NULL;
    ksv_status status =
        sparse_cursor_open(t->reader, &t->place, &opened, error);
    *cursor = opened;
    return status;
}

static void cursor_close(void *cursor)
{
    sparse_cursor_close(cursor);
}

static ksv_status cursor_move(void *cursor, table_move where,
                              const table_key *key, bool *found,
                              ksv_error *error)
{
    const sorted_key wanted = {key->data, key->bytes};
    return sparse_cursor_move(cursor, where, wanted, found, error);
}

static ksv_status cursor_find(void *cursor, const table_key *key,
                              ksv_payload_fn visit, void *ctx, ksv_error *error)
{
    const sorted_key wanted = {key->data, key->bytes};
    return sparse_cursor_find(cursor, wanted, visit, ctx, error);
}

static void cursor_forget(void *cursor)
{
    sparse_cursor_forget(cursor);
}

static table_cost cursor_cost(const void *cursor)
{
    return sparse_cursor_cost(cursor);
}

static table_entry cursor_entry(const void *cursor)
{
    sorted_key key = sparse_cursor_key(cursor);
    return (table_entry){.key = key.data,
                         .key_bytes = key.size_bytes,
                         .payload = sparse_cursor_payload(cursor)};
}

static const keyed_ops OPS = {cursor_open, cursor_close,  cursor_move,
                              cursor_find, cursor_forget, cursor_cost,
                              cursor_entry};

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
    t->keyed.ops = &OPS;
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
    keyed_table_release(&t->keyed);
    sorted_reader_close(t->reader);
    memory_free(table->allocator, t, sizeof *t);
}

static ksv_status open_walk(const segment_table *table, size_t pages,
                            table_walk **out, ksv_error *error)
{
    const sparse_table *t = table->own;
    return sparse_walk_open(t->reader, &t->place, table->parameters,
                            pages * WALK_PAGE_BYTES, out, error);
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
                                          .keeps_keys = true,
                                          .close_table = close_table,
                                          .find = keyed_table_find,
                                          .walk = open_walk,
                                          .open_cursor =
                                              keyed_table_open_cursor,
                                          .bounds = bounds};
