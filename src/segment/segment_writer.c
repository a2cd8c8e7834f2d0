/* SPDX-License-Identifier: MIT */
/* Writes the sidecars of a segment from sorted entries. A filter is sized by
 * its keys, and how many there are is known when all entries were sorted: it is
 * planned for as many as there are entries, and where keys repeat it is written
 * once more, from the table, which costs less than to keep or sort the entries
 * twice, in memory and even more when they were on disk. */
#include "segment/segment_writer.h"

#include "base/error.h"
#include "filter/filter_writer.h"
#include "io/file.h"
#include "segment/segment_pipeline.h"
#include "table/table_hashes.h"

static ksv_status create(const segment_place *place, uint64_t id,
                         const char *ending, atomic_file **file,
                         ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(id, ending, name);
    return atomic_file_create(place->fs, place->directory, name,
                              place->allocator, file, error);
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

/* A filter is planned for a number of keys that leaves out the lower bits: few
 * keys whose truncated hashes are equal change nothing then, and what was
 * planned before the keys were counted is right nearly always. */
#define PLANNED_BITS 11

static ksv_status plan_filter(const segment_place *place, uint64_t keys,
                              ksv_filter_plan *plan, ksv_error *error)
{
    const catalog_parameters *p = place->parameters;
    uint64_t step = 1;
    while (keys / step >> PLANNED_BITS != 0)
        step *= 2;
    uint64_t rest = keys % step;
    uint64_t planned = rest > 0 ? keys - rest + step : keys;
    return ksv_filter_make_plan(planned, p->fpr, p->hash_bits, plan, error);
}

static ksv_status open_filter(const segment_place *place, uint64_t keys,
                              const catalog_segment *segment,
                              segment_files *files, ksv_filter_options *options,
                              ksv_filter_writer **writer, ksv_error *error)
{
    const catalog_parameters *p = place->parameters;
    *options =
        (ksv_filter_options){.hash_bits = p->hash_bits, .hasher = p->hasher};
    segment_sidecar_id(p, segment->id, CATALOG_FILTER_ENDING, options->id);
    KSV_TRY(plan_filter(place, keys, &options->plan, error));
    KSV_TRY(create(place, segment->id, CATALOG_FILTER_ENDING, &files->filter,
                   error));
    return ksv_filter_writer_open(atomic_file_handle(files->filter), options,
                                  place->allocator, writer, error);
}

static ksv_status finish_filter(ksv_filter_writer *writer,
                                const ksv_filter_options *options,
                                catalog_segment *segment, ksv_error *error)
{
    segment->filter.id = segment->id;
    segment->filter.bytes = options->plan.file_bytes;
    return ksv_filter_writer_finish(writer, &segment->filter.keys, error);
}

ksv_status segment_write_filter(const segment_place *place, uint64_t hashes,
                                catalog_segment *segment, segment_files *files,
                                ksv_error *error)
{
    ksv_filter_options options;
    ksv_filter_writer *writer = NULL;
    ksv_status status =
        open_filter(place, hashes, segment, files, &options, &writer, error);
    if (status == KSV_OK)
        status = copy_keys(place, files->table, writer, error);
    if (status == KSV_OK)
        status = finish_filter(writer, &options, segment, error);
    ksv_filter_writer_close(writer);
    return status;
}

#define HASHES_AT_ONCE 256

static ksv_status feed_hashes(ksv_filter_writer *writer, unsigned hash_bits,
                              const hash_entry *entries, size_t count,
                              ksv_error *error)
{
    uint64_t hashes[HASHES_AT_ONCE];
    for (size_t i = 0; i < count;) {
        size_t some = 0;
        for (; some < HASHES_AT_ONCE && i < count; some++, i++)
            hashes[some] = ksv_hash_truncate(entries[i].hash, hash_bits);
        KSV_TRY(filter_writer_add_hashes(writer, hashes, some, error));
    }
    return KSV_OK;
}

static ksv_status feed_sorted(ksv_filter_writer *writer, entry_sorter *sorter,
                              unsigned hash_bits, ksv_error *error)
{
    for (;;) {
        const hash_entry *entries;
        size_t count;
        KSV_TRY(entry_sorter_next(sorter, &entries, &count, error));
        if (count == 0)
            return KSV_OK;
        KSV_TRY(feed_hashes(writer, hash_bits, entries, count, error));
    }
}

ksv_status segment_write_filter_of(const segment_place *place,
                                   entry_sorter *hashes, uint64_t keys,
                                   catalog_segment *segment,
                                   segment_files *files, ksv_error *error)
{
    ksv_filter_options options;
    ksv_filter_writer *writer = NULL;
    ksv_status status =
        open_filter(place, keys, segment, files, &options, &writer, error);
    if (status == KSV_OK)
        status =
            feed_sorted(writer, hashes, place->parameters->hash_bits, error);
    if (status == KSV_OK)
        status = finish_filter(writer, &options, segment, error);
    ksv_filter_writer_close(writer);
    return status;
}

ksv_status segment_create_table(const segment_place *place,
                                const catalog_segment *segment,
                                segment_files *files, ksv_error *error)
{
    return create(place, segment->id, segment_table_ending(place),
                  &files->table, error);
}

ksv_status segment_open_table_writer(const segment_place *place,
                                     const catalog_segment *segment,
                                     segment_files *files,
                                     ksv_table_writer **writer,
                                     ksv_error *error)
{
    const catalog_parameters *p = place->parameters;
    ksv_table_options options = {.hash_bits = p->hash_bits,
                                 .payload_bits = segment->payload_bits,
                                 .hasher = p->hasher};
    segment_sidecar_id(p, segment->id, CATALOG_TABLE_ENDING, options.id);
    KSV_TRY(segment_create_table(place, segment, files, error));
    return ksv_table_writer_open(atomic_file_handle(files->table), &options,
                                 place->allocator, writer, error);
}

/* Both sidecars in the making. */
typedef struct segment_writers {
    ksv_table_writer *table;
    ksv_filter_writer *filter;
    ksv_filter_options filter_options;
} segment_writers;

static ksv_status open_writers(const segment_place *place,
                               const catalog_segment *segment, uint64_t entries,
                               segment_files *files, segment_writers *w,
                               ksv_error *error)
{
    KSV_TRY(segment_open_table_writer(place, segment, files, &w->table, error));
    return open_filter(place, entries, segment, files, &w->filter_options,
                       &w->filter, error);
}

/* Finishes the table, and the filter when it has the size for the `hashes` that
 * there are; `*again` when it has not. */
static ksv_status finish_writers(const segment_place *place, uint64_t hashes,
                                 bool has_filter, catalog_segment *segment,
                                 segment_writers *w, bool *again,
                                 ksv_error *error)
{
    ksv_table_info info;
    KSV_TRY(ksv_table_writer_finish(w->table, &info, error));
    segment->entries = info.entries;
    segment->table_bytes = info.file_bytes;
    ksv_filter_plan plan;
    KSV_TRY(plan_filter(place, hashes, &plan, error));
    *again = !has_filter || plan.blocks != w->filter_options.plan.blocks ||
             plan.fpr != w->filter_options.plan.fpr;
    if (*again)
        return KSV_OK;
    return finish_filter(w->filter, &w->filter_options, segment, error);
}

static ksv_status write_both(const segment_place *place, entry_sorter *sorter,
                             catalog_segment *segment, segment_files *files,
                             segment_writers *w, bool *again, ksv_error *error)
{
    KSV_TRY(open_writers(place, segment, entry_sorter_count(sorter), files, w,
                         error));
    segment_target target = {place->allocator, w->table, w->filter,
                             &w->filter_options};
    bool has_filter;
    KSV_TRY(segment_pipeline_run(&target, sorter, &has_filter, error));
    sorter_distinct distinct;
    entry_sorter_distinct(sorter, &distinct);
    return finish_writers(place, distinct.truncated, has_filter, segment, w,
                          again, error);
}

ksv_status segment_write(const segment_place *place, entry_sorter *sorter,
                         uint64_t payload_limit, catalog_segment *segment,
                         segment_files *files, uint64_t *distinct_keys,
                         ksv_error *error)
{
    segment_writers w = {NULL, NULL, {{0}}};
    bool again = false;
    segment->payload_bits = segment_payload_bits(payload_limit);
    ksv_status status =
        write_both(place, sorter, segment, files, &w, &again, error);
    ksv_filter_writer_close(w.filter);
    ksv_table_writer_close(w.table);
    sorter_distinct distinct;
    entry_sorter_distinct(sorter, &distinct);
    *distinct_keys = distinct.whole;
    if (status != KSV_OK || !again)
        return status;
    atomic_file_abandon(files->filter);
    files->filter = NULL;
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
    const char *const endings[] = {CATALOG_FILTER_ENDING,
                                   segment_table_ending(place),
                                   CATALOG_POINTS_ENDING};
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
