/* SPDX-License-Identifier: MIT */
/* Writes the sidecars of a segment from sorted entries. The table comes first:
 * a filter is sized by its keys, and how many there are is known when all
 * entries were sorted, once. The filter's keys are then read from the table,
 * which costs less than to keep or sort the entries twice, in memory and even
 * more when they were on disk. */
#include "segment/segment_writer.h"

#include <string.h>

#include "base/error.h"
#include "filter/filter_writer.h"
#include "io/file.h"
#include "table/table_hashes.h"
#include "table/table_writer.h"

static ksv_status create(const segment_place *place, uint64_t id,
                         const char *ending, atomic_file **file,
                         ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(id, ending, name);
    return atomic_file_create(place->fs, place->directory, name,
                              place->allocator, file, error);
}

static ksv_status feed_table(entry_sorter *sorter, ksv_table_writer *writer,
                             ksv_error *error)
{
    for (;;) {
        const hash_entry *entries;
        size_t count;
        KSV_TRY(entry_sorter_next(sorter, &entries, &count, error));
        if (count == 0)
            return KSV_OK;
        KSV_TRY(table_writer_add_entries(writer, entries, count, error));
    }
}

static ksv_status write_table(const segment_place *place, entry_sorter *sorter,
                              catalog_segment *segment, atomic_file **file,
                              ksv_error *error)
{
    const catalog_parameters *p = place->parameters;
    ksv_table_options options = {.hash_bits = p->hash_bits,
                                 .payload_bits = segment->payload_bits,
                                 .hasher = p->hasher};
    segment_sidecar_id(p, segment->id, CATALOG_TABLE_ENDING, options.id);
    KSV_TRY(create(place, segment->id, CATALOG_TABLE_ENDING, file, error));
    ksv_table_writer *writer;
    ksv_table_info info = {0};
    KSV_TRY(ksv_table_writer_open(atomic_file_handle(*file), &options,
                                  place->allocator, &writer, error));
    ksv_status status = feed_table(sorter, writer, error);
    if (status == KSV_OK)
        status = ksv_table_writer_finish(writer, &info, error);
    ksv_table_writer_close(writer);
    segment->entries = info.entries;
    segment->table_bytes = info.file_bytes;
    return status;
}

static ksv_status feed_filter(ksv_table *table, ksv_filter_writer *writer,
                              ksv_error *error)
{
    table_hashes *hashes;
    KSV_TRY(table_hashes_open(table, &hashes, error));
    ksv_status status;
    for (;;) {
        const uint64_t *values;
        size_t count;
        status = table_hashes_next(hashes, &values, &count, error);
        if (status != KSV_OK || count == 0)
            break;
        status = filter_writer_add_hashes(writer, values, count, error);
        if (status != KSV_OK)
            break;
    }
    table_hashes_close(hashes);
    return status;
}

static ksv_status copy_keys(const segment_place *place,
                            const atomic_file *table_file,
                            ksv_filter_writer *writer, ksv_error *error)
{
    ksv_file *file;
    KSV_TRY(atomic_file_read_back(table_file, &file, error));
    ksv_table *table = NULL;
    ksv_status status = ksv_table_open(file, place->allocator, &table, error);
    if (status == KSV_OK)
        status = feed_filter(table, writer, error);
    ksv_table_close(table);
    file_close_quietly(file);
    return status;
}

ksv_status segment_write_filter(const segment_place *place, uint64_t hashes,
                                catalog_segment *segment, segment_files *files,
                                ksv_error *error)
{
    const catalog_parameters *p = place->parameters;
    ksv_filter_options options = {.hash_bits = p->hash_bits,
                                  .hasher = p->hasher};
    segment_sidecar_id(p, segment->id, CATALOG_FILTER_ENDING, options.id);
    KSV_TRY(ksv_filter_make_plan(hashes, p->fpr, p->hash_bits, &options.plan,
                                 error));
    KSV_TRY(create(place, segment->id, CATALOG_FILTER_ENDING, &files->filter,
                   error));
    ksv_file *file = atomic_file_handle(files->filter);
    ksv_filter_writer *writer;
    KSV_TRY(ksv_filter_writer_open(file, &options, place->allocator, &writer,
                                   error));
    ksv_status status = copy_keys(place, files->table, writer, error);
    if (status == KSV_OK)
        status = ksv_filter_writer_finish(writer, &segment->filter.keys, error);
    ksv_filter_writer_close(writer);
    segment->filter.id = segment->id;
    segment->filter.bytes = options.plan.file_bytes;
    return status;
}

ksv_status segment_write(const segment_place *place, entry_sorter *sorter,
                         uint64_t payload_limit, catalog_segment *segment,
                         segment_files *files, uint64_t *distinct_keys,
                         ksv_error *error)
{
    segment->payload_bits = segment_payload_bits(payload_limit);
    KSV_TRY(write_table(place, sorter, segment, &files->table, error));
    sorter_distinct distinct;
    entry_sorter_distinct(sorter, &distinct);
    *distinct_keys = distinct.whole;
    return segment_write_filter(place, distinct.truncated, segment, files,
                                error);
}

static ksv_status publish_one(atomic_file **file, publish_queue *queue,
                              ksv_error *error)
{
    atomic_file *given = *file;
    *file = NULL;
    return given != NULL ? publish_queue_add(queue, given, error) : KSV_OK;
}

ksv_status segment_files_publish(segment_files *files, publish_queue *queue,
                                 ksv_error *error)
{
    KSV_TRY(publish_one(&files->table, queue, error));
    KSV_TRY(publish_one(&files->filter, queue, error));
    return publish_one(&files->points, queue, error);
}

void segment_files_abandon(segment_files *files)
{
    atomic_file_abandon(files->filter);
    atomic_file_abandon(files->table);
    atomic_file_abandon(files->points);
    *files = (segment_files){NULL, NULL, NULL};
}

void segment_remove(const segment_place *place, uint64_t id)
{
    static const char *const endings[] = {
        CATALOG_FILTER_ENDING, CATALOG_TABLE_ENDING, CATALOG_POINTS_ENDING};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char name[CATALOG_NAME_BYTES];
        catalog_sidecar_name(id, endings[i], name);
        char *path = path_join(place->allocator, place->directory, name);
        if (path != NULL &&
            place->fs->remove(place->fs->ctx, path, NULL) != KSV_OK) {
            /* What stays is removed by the next build. */
        }
        memory_free_string(place->allocator, path);
    }
}
