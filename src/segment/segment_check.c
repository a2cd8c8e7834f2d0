/* SPDX-License-Identifier: MIT */
/* Reads every byte of sidecars. */
#include "segment/segment_check.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "datafile/points_reader.h"
#include "io/file.h"
#include "segment/organisation.h"
#include "segment/part_map.h"

enum { CHECK_BATCH = 256 };

/* Pages of a table in memory. */
#define CHECK_PAGES 32

typedef struct checker {
    const segment_place *place;
    const catalog_segment *segment;
    part_map map;
    entry_sum *sums; /* of each part */
    ksv_filter *filter;
    table_walk *walk;
    uint64_t entries;
    uint64_t distinct; /* hashes */
    uint64_t last_hash;
} checker;

static ksv_status corrupt_table(checker *c, const char *text, ksv_error *error)
{
    error_set(error, KSV_ERROR_CORRUPT, NULL, "index file is damaged: %s",
              text);
    segment_table_error(c->place, c->segment->id, error);
    return KSV_ERROR_CORRUPT;
}

static ksv_status corrupt_filter(checker *c, ksv_error *error)
{
    error_set(error, KSV_ERROR_CORRUPT, NULL,
              "index file is damaged: a key of the table is not in the filter");
    segment_error(c->place, c->segment->filter.id, CATALOG_FILTER_ENDING,
                  error);
    return KSV_ERROR_CORRUPT;
}

/* The next entries of the table; fewer than CHECK_BATCH at its end. */
static ksv_status next_batch(checker *c, uint64_t *hashes, size_t *count,
                             ksv_error *error)
{
    for (*count = 0; *count < CHECK_BATCH; ++*count) {
        table_entry entry;
        bool end;
        ksv_status status = c->walk->next(c->walk, &entry, &end, error);
        if (status != KSV_OK) {
            segment_table_error(c->place, c->segment->id, error);
            return status;
        }
        if (end)
            return KSV_OK;
        if (entry.payload >= part_map_span(&c->map))
            return corrupt_table(c, "an entry beyond the end of the data",
                                 error);
        size_t part = part_map_find(&c->map, entry.payload);
        entry_sum_add(&c->sums[part], entry.hash,
                      c->segment->parts[part].first_offset + entry.payload -
                          c->map.bases[part]);
        hashes[*count] = entry.hash;
        c->distinct += c->entries == 0 || entry.hash != c->last_hash;
        c->last_hash = entry.hash;
        c->entries++;
    }
    return KSV_OK;
}

static ksv_status check_entries(checker *c, ksv_error *error)
{
    uint64_t hashes[CHECK_BATCH];
    bool present[CHECK_BATCH];
    size_t count = CHECK_BATCH;
    while (count == CHECK_BATCH) {
        KSV_TRY(next_batch(c, hashes, &count, error));
        KSV_TRY(ksv_filter_may_contain_batch(c->filter, hashes, count, present,
                                             error));
        for (size_t i = 0; i < count; i++)
            if (!present[i])
                return corrupt_filter(c, error);
    }
    bool has_all = !c->walk->is_partial;
    for (size_t i = 0; i < c->segment->part_count; i++) {
        const catalog_part *part = &c->segment->parts[i];
        bool is_left = part->is_dead && c->walk->leaves_dead;
        if (c->walk->is_partial || is_left ? c->sums[i].count > part->entries
                                           : c->sums[i].count != part->entries)
            return corrupt_table(c, "wrong number of entries", error);
        has_all = has_all && !is_left;
    }
    if (!has_all)
        return KSV_OK;
    /* In the order of keys, different ones may have equal hashes. */
    bool by_keys = organisation_of(c->place)->keeps_keys;
    if (by_keys ? c->distinct < c->segment->filter.keys
                : c->distinct != c->segment->filter.keys)
        return corrupt_table(c, "wrong number of keys", error);
    return KSV_OK;
}

static ksv_status check_table(checker *c, ksv_error *error)
{
    segment_table table;
    KSV_TRY(segment_open_table(c->place, c->segment, &table, error));
    ksv_status status =
        table.organisation->walk(&table, CHECK_PAGES, &c->walk, error);
    if (status == KSV_OK) {
        status = check_entries(c, error);
        c->walk->close(c->walk);
    }
    segment_close_table(&table);
    return status;
}

static ksv_status check_with_filter(checker *c, ksv_error *error)
{
    segment_filter filter;
    KSV_TRY(segment_load_filter(c->place, &c->segment->filter, &filter, error));
    c->filter = filter.filter;
    ksv_status status = check_table(c, error);
    segment_close_filter(&filter);
    return status;
}

ksv_status segment_check(const segment_place *place,
                         const catalog_segment *segment, entry_sum *sums,
                         ksv_error *error)
{
    const ksv_allocator *a = place->allocator;
    size_t parts = segment->part_count;
    checker c = {.place = place, .segment = segment, .sums = sums};
    KSV_TRY(part_map_open(&c.map, segment->parts, parts, a, error));
    if (sums == NULL)
        c.sums = memory_zalloc_array(a, parts, sizeof *c.sums);
    ksv_status status =
        c.sums != NULL ? check_with_filter(&c, error) : error_set_memory(error);
    if (sums == NULL)
        memory_free(a, c.sums, parts * sizeof *c.sums);
    part_map_close(&c.map, a);
    return status;
}

static ksv_status check_points(const segment_place *place,
                               const catalog_file *file, ksv_error *error)
{
    char name[CATALOG_NAME_BYTES];
    uint8_t id[16];
    catalog_sidecar_name(file->points_id, CATALOG_POINTS_ENDING, name);
    segment_sidecar_id(place->parameters, file->points_id,
                       CATALOG_POINTS_ENDING, id);
    char *path = path_join(place->allocator, place->directory, name);
    if (path == NULL)
        return error_set_memory(error);
    points_reader *points;
    ksv_status status = points_reader_open(place->fs, path, id,
                                           place->allocator, &points, error);
    if (status == KSV_OK) {
        const points_info *info = points_reader_info(points);
        status = points_reader_verify(points, error);
        if (status == KSV_OK && (info->file_bytes != file->points_bytes ||
                                 info->content_bytes != file->content_bytes))
            status = error_set(error, KSV_ERROR_CORRUPT, NULL,
                               "index file is damaged: a size is wrong");
        points_reader_close(points);
    }
    memory_free_string(place->allocator, path);
    if (status != KSV_OK)
        segment_error(place, file->points_id, CATALOG_POINTS_ENDING, error);
    return status;
}

static ksv_status check_filter(const segment_place *place,
                               const catalog_filter *facts, ksv_error *error)
{
    segment_filter filter;
    KSV_TRY(segment_load_filter(place, facts, &filter, error));
    segment_close_filter(&filter);
    return KSV_OK;
}

bool segment_has_filter(const catalog_state *state, uint64_t filter_id)
{
    /* A segment shares the number of the filter that it was written with. */
    const catalog_segment *segment = catalog_find_segment(state, filter_id);
    return segment != NULL && segment->filter.id == filter_id;
}

ksv_status segment_check_file(const segment_place *place,
                              const catalog_state *state,
                              const catalog_file *file, ksv_error *error)
{
    for (size_t i = 0; i < file->extent_count; i++) {
        const catalog_filter *filter = &file->extents[i].filter;
        if (!segment_has_filter(state, filter->id))
            KSV_TRY(check_filter(place, filter, error));
    }
    return file->points_id != 0 ? check_points(place, file, error) : KSV_OK;
}

static bool has_size(const segment_place *place, uint64_t id,
                     const char *ending, uint64_t size_bytes)
{
    char name[CATALOG_NAME_BYTES];
    ksv_file_info info;
    catalog_sidecar_name(id, ending, name);
    char *path = path_join(place->allocator, place->directory, name);
    bool found = path != NULL &&
                 place->fs->info(place->fs->ctx, path, &info, NULL) == KSV_OK;
    memory_free_string(place->allocator, path);
    return found && info.size_bytes == size_bytes;
}

static bool filter_is_there(const segment_place *place,
                            const catalog_filter *filter)
{
    return has_size(place, filter->id, CATALOG_FILTER_ENDING, filter->bytes);
}

bool segment_is_there(const segment_place *place,
                      const catalog_segment *segment)
{
    return filter_is_there(place, &segment->filter) &&
           has_size(place, segment->id, segment_table_ending(place),
                    segment->table_bytes);
}

bool segment_file_is_there(const segment_place *place,
                           const catalog_state *state, const catalog_file *file)
{
    for (size_t i = 0; i < file->extent_count; i++) {
        const catalog_filter *filter = &file->extents[i].filter;
        if (!segment_has_filter(state, filter->id) &&
            !filter_is_there(place, filter))
            return false;
    }
    return file->points_id == 0 ||
           has_size(place, file->points_id, CATALOG_POINTS_ENDING,
                    file->points_bytes);
}
