/* SPDX-License-Identifier: MIT */
/* The organisation by hashes: tables of (hash, payload). */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "segment/hash_collector.h"
#include "segment/organisation.h"
#include "table/table_format.h"
#include "table/table_iterator.h"
#include "table/table_writer.h"

static ksv_status open_table(const segment_place *place,
                             const catalog_segment *segment, segment_table *out,
                             ksv_error *error)
{
    KSV_TRY(ksv_table_open(out->file, place->allocator, &out->pages, error));
    ksv_table_info info;
    ksv_table_get_info(out->pages, &info);
    return segment_check_table_identity(place, segment, &info.options.hasher,
                                        info.options.hash_bits, info.options.id,
                                        info.file_bytes, info.entries, error);
}

static void close_table(segment_table *table)
{
    ksv_table_close(table->pages);
}

static ksv_status find(const segment_table *table, const table_key *key,
                       ksv_payload_fn visit, void *ctx, table_cost *cost,
                       ksv_error *error)
{
    uint64_t pages = 0;
    ksv_status status =
        ksv_table_find(table->pages, key->hash, visit, ctx, &pages, error);
    cost->pages += pages;
    cost->bytes += pages * TABLE_PAGE_BYTES;
    return status;
}

typedef struct hash_walk {
    table_walk base;
    const ksv_allocator *allocator;
    ksv_table_iterator *iterator;
} hash_walk;

static ksv_status next(table_walk *walk, table_entry *entry, bool *end,
                       ksv_error *error)
{
    entry->key = NULL;
    entry->key_bytes = 0;
    return ksv_table_iterator_next(((hash_walk *)walk)->iterator, &entry->hash,
                                   &entry->payload, end, error);
}

static void close_walk(table_walk *walk)
{
    hash_walk *w = (hash_walk *)walk;
    ksv_table_iterator_close(w->iterator);
    memory_free(w->allocator, w, sizeof *w);
}

static ksv_status open_walk(const segment_table *table, size_t pages,
                            table_walk **out, ksv_error *error)
{
    *out = NULL;
    hash_walk *w = memory_zalloc(table->allocator, sizeof *w);
    if (w == NULL)
        return error_set_memory(error);
    w->base.next = next;
    w->base.close = close_walk;
    w->allocator = table->allocator;
    ksv_status status =
        table_iterator_open(table->pages, pages, &w->iterator, error);
    if (status != KSV_OK) {
        close_walk(&w->base);
        return status;
    }
    *out = &w->base;
    return KSV_OK;
}

/* Entries that are handed on at once. */
#define JOIN_ENTRIES 1024

static ksv_status next_entries(segment_merge *merge, hash_entry *entries,
                               size_t *count, ksv_error *error)
{
    for (*count = 0; *count < JOIN_ENTRIES; ++*count) {
        table_entry entry;
        bool end;
        KSV_TRY(segment_merge_next(merge, &entry, &end, error));
        if (end)
            break;
        entries[*count] = (hash_entry){entry.hash, entry.payload};
    }
    return KSV_OK;
}

static ksv_status feed_table(segment_merge *merge, ksv_table_writer *writer,
                             join_step_fn step, void *step_ctx,
                             ksv_error *error)
{
    hash_entry entries[JOIN_ENTRIES];
    size_t count;
    do {
        KSV_TRY(next_entries(merge, entries, &count, error));
        KSV_TRY(table_writer_add_entries(writer, entries, count, error));
        KSV_TRY(step(step_ctx, count, error));
    } while (count > 0);
    return KSV_OK;
}

static ksv_status write_merged(const segment_place *place, segment_merge *merge,
                               join_step_fn step, void *step_ctx,
                               catalog_segment *out, segment_files *files,
                               ksv_error *error)
{
    ksv_table_info info;
    ksv_table_writer *writer;
    memset(&info, 0, sizeof info);
    KSV_TRY(segment_open_table_writer(place, out, files, &writer, error));
    ksv_status status = feed_table(merge, writer, step, step_ctx, error);
    if (status == KSV_OK)
        status = ksv_table_writer_finish(writer, &info, error);
    ksv_table_writer_close(writer);
    out->table_bytes = info.file_bytes;
    KSV_TRY(status);
    return segment_write_filter(place, info.distinct_hashes, out, files, error);
}

const organisation organisation_hash = {.kind = KSV_ORGANISATION_HASH,
                                        .name = "hash",
                                        .keeps_keys = false,
                                        .open_table = open_table,
                                        .close_table = close_table,
                                        .find = find,
                                        .walk = open_walk,
                                        .open_collector = hash_collector_open,
                                        .write_merged = write_merged};
