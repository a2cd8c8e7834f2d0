/* SPDX-License-Identifier: MIT */
/* Writes the sidecars of a segment from sorted entries, in one pass. */
#include "segment/segment_writer.h"

#include <string.h>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/file.h"

/* One sorted stream feeds both writers, so that they hold the same keys. */
typedef struct tee {
    atomic_file *filter_file;
    atomic_file *table_file;
    ksv_filter_writer *filter;
    ksv_table_writer *table;
} tee;

static ksv_status open_filter(const segment_place *place,
                              const entry_sorter *sorter, tee *t,
                              catalog_segment *segment, ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(segment->id, CATALOG_FILTER_ENDING, name);
    const catalog_parameters *p = place->parameters;
    ksv_filter_options options = {.hash_bits = p->hash_bits,
                                  .hasher = p->hasher};
    memcpy(options.id, segment->filter_id, sizeof options.id);
    sorter_distinct distinct;
    KSV_TRY(entry_sorter_distinct(sorter, &distinct, error));
    segment->distinct_keys = distinct.whole;
    KSV_TRY(ksv_filter_make_plan(distinct.truncated, p->fpr, p->hash_bits,
                                 &options.plan, error));
    KSV_TRY(atomic_file_create(place->fs, place->directory, name,
                               place->allocator, &t->filter_file, error));
    return ksv_filter_writer_open(atomic_file_handle(t->filter_file), &options,
                                  place->allocator, &t->filter, error);
}

static ksv_status open_table(const segment_place *place, tee *t,
                             catalog_segment *segment, ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(segment->id, CATALOG_TABLE_ENDING, name);
    const catalog_parameters *p = place->parameters;
    ksv_table_options options = {.hash_bits = p->hash_bits,
                                 .payload_bits = segment->payload_bits,
                                 .hasher = p->hasher};
    memcpy(options.id, segment->table_id, sizeof options.id);
    KSV_TRY(atomic_file_create(place->fs, place->directory, name,
                               place->allocator, &t->table_file, error));
    return ksv_table_writer_open(atomic_file_handle(t->table_file), &options,
                                 place->allocator, &t->table, error);
}

static ksv_status feed(const entry_sorter *sorter, unsigned hash_bits, tee *t,
                       ksv_error *error)
{
    const sort_entry *entries = entry_sorter_entries(sorter);
    size_t count = entry_sorter_count(sorter);
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = ksv_hash_truncate(entries[i].hash, hash_bits);
        KSV_TRY(ksv_filter_writer_add(t->filter, hash, error));
        KSV_TRY(
            ksv_table_writer_add(t->table, hash, entries[i].payload, error));
    }
    return KSV_OK;
}

static ksv_status finish(tee *t, catalog_segment *segment, ksv_error *error)
{
    ksv_table_info table;
    uint64_t keys;
    KSV_TRY(ksv_filter_writer_finish(t->filter, &keys, error));
    KSV_TRY(ksv_table_writer_finish(t->table, &table, error));
    segment->entries = table.entries;
    segment->filter_keys = keys;
    segment->table_bytes = table.file_bytes;
    ksv_file *file = atomic_file_handle(t->filter_file);
    ksv_file_info info;
    KSV_TRY(file->ops->info(file, &info, error));
    segment->filter_bytes = info.size_bytes;
    return KSV_OK;
}

static ksv_status publish(const segment_place *place, tee *t,
                          const catalog_segment *segment, ksv_error *error)
{
    atomic_file *file = t->filter_file;
    t->filter_file = NULL;
    KSV_TRY(atomic_file_publish(file, error));
    file = t->table_file;
    t->table_file = NULL;
    ksv_status status = atomic_file_publish(file, error);
    if (status != KSV_OK)
        segment_remove(place, segment->id);
    return status;
}

ksv_status segment_write(const segment_place *place, const entry_sorter *sorter,
                         uint64_t payload_limit, catalog_segment *segment,
                         ksv_error *error)
{
    tee t = {NULL, NULL, NULL, NULL};
    segment->payload_bits = segment_payload_bits(payload_limit);
    ksv_status status = open_filter(place, sorter, &t, segment, error);
    if (status == KSV_OK)
        status = open_table(place, &t, segment, error);
    if (status == KSV_OK)
        status = feed(sorter, place->parameters->hash_bits, &t, error);
    if (status == KSV_OK)
        status = finish(&t, segment, error);
    ksv_filter_writer_close(t.filter);
    ksv_table_writer_close(t.table);
    if (status == KSV_OK)
        status = publish(place, &t, segment, error);
    atomic_file_abandon(t.filter_file);
    atomic_file_abandon(t.table_file);
    return status;
}

void segment_remove(const segment_place *place, uint64_t segment_id)
{
    static const char *const endings[] = {
        CATALOG_FILTER_ENDING, CATALOG_TABLE_ENDING, CATALOG_POINTS_ENDING};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char name[CATALOG_NAME_BYTES];
        catalog_sidecar_name(segment_id, endings[i], name);
        char *path = path_join(place->allocator, place->directory, name);
        if (path != NULL &&
            place->fs->remove(place->fs->ctx, path, NULL) != KSV_OK) {
            /* What stays is removed by the next build. */
        }
        memory_free_string(place->allocator, path);
    }
}
