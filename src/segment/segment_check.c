/* SPDX-License-Identifier: MIT */
/* Reads every byte of a segment's sidecars. */
#include "segment/segment_check.h"

#include "base/error.h"
#include "base/memory.h"
#include "datafile/points_reader.h"
#include "io/file.h"

enum { CHECK_BATCH = 256 };

typedef struct checker {
    const segment_place *place;
    const catalog_segment *segment;
    uint64_t payload_limit;
    ksv_filter *filter;
    ksv_table_iterator *iterator;
    uint64_t entries;
    uint64_t distinct;
    uint64_t last_hash;
} checker;

static ksv_status corrupt(checker *c, const char *ending, const char *text,
                          ksv_error *error)
{
    error_set(error, KSV_ERROR_CORRUPT, NULL, "index file is damaged: %s",
              text);
    segment_error(c->place, c->segment, ending, error);
    return KSV_ERROR_CORRUPT;
}

/* The next entries of the table; fewer than CHECK_BATCH at its end. */
static ksv_status next_batch(checker *c, uint64_t *hashes, size_t *count,
                             ksv_error *error)
{
    for (*count = 0; *count < CHECK_BATCH; ++*count) {
        uint64_t payload;
        bool end;
        ksv_status status = ksv_table_iterator_next(
            c->iterator, &hashes[*count], &payload, &end, error);
        if (status != KSV_OK) {
            segment_error(c->place, c->segment, CATALOG_TABLE_ENDING, error);
            return status;
        }
        if (end)
            return KSV_OK;
        if (payload >= c->payload_limit)
            return corrupt(c, CATALOG_TABLE_ENDING,
                           "an entry beyond the end of the data", error);
        c->distinct += c->entries == 0 || hashes[*count] != c->last_hash;
        c->last_hash = hashes[*count];
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
                return corrupt(c, CATALOG_FILTER_ENDING,
                               "a key of the table is not in the filter",
                               error);
    }
    if (c->entries != c->segment->entries)
        return corrupt(c, CATALOG_TABLE_ENDING, "wrong number of entries",
                       error);
    if (c->distinct != c->segment->filter_keys)
        return corrupt(c, CATALOG_TABLE_ENDING, "wrong number of keys", error);
    return KSV_OK;
}

static ksv_status check_table(checker *c, ksv_error *error)
{
    segment_table table;
    KSV_TRY(segment_open_table(c->place, c->segment, &table, error));
    ksv_status status =
        ksv_table_iterator_open(table.table, &c->iterator, error);
    if (status == KSV_OK)
        status = check_entries(c, error);
    ksv_table_iterator_close(c->iterator);
    segment_close_table(&table);
    return status;
}

static ksv_status check_points(const checker *c, ksv_error *error)
{
    const segment_place *place = c->place;
    if (c->segment->points_bytes == 0)
        return KSV_OK;
    char name[CATALOG_NAME_BYTES];
    catalog_sidecar_name(c->segment->id, CATALOG_POINTS_ENDING, name);
    char *path = path_join(place->allocator, place->directory, name);
    if (path == NULL)
        return error_set_memory(error);
    points_reader *points;
    ksv_status status =
        points_reader_open(place->fs, path, c->segment->points_id,
                           place->allocator, &points, error);
    if (status == KSV_OK) {
        const points_info *info = points_reader_info(points);
        status = points_reader_verify(points, error);
        if (status == KSV_OK && (info->file_bytes != c->segment->points_bytes ||
                                 info->content_bytes != c->payload_limit))
            status = error_set(error, KSV_ERROR_CORRUPT, NULL,
                               "index file is damaged: a size is wrong");
        points_reader_close(points);
    }
    memory_free_string(place->allocator, path);
    if (status != KSV_OK)
        segment_error(place, c->segment, CATALOG_POINTS_ENDING, error);
    return status;
}

ksv_status segment_check(const segment_place *place,
                         const catalog_segment *segment, uint64_t payload_limit,
                         ksv_error *error)
{
    checker c = {
        .place = place, .segment = segment, .payload_limit = payload_limit};
    segment_filter filter;
    KSV_TRY(segment_open_filter(place, segment, &filter, error));
    ksv_status status = ksv_filter_load(filter.filter, error);
    if (status != KSV_OK)
        segment_error(place, segment, CATALOG_FILTER_ENDING, error);
    c.filter = filter.filter;
    if (status == KSV_OK)
        status = check_table(&c, error);
    segment_close_filter(&filter);
    return status == KSV_OK ? check_points(&c, error) : status;
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

bool segment_is_there(const segment_place *place,
                      const catalog_segment *segment)
{
    return has_size(place, segment->id, CATALOG_FILTER_ENDING,
                    segment->filter_bytes) &&
           has_size(place, segment->id, CATALOG_TABLE_ENDING,
                    segment->table_bytes) &&
           (segment->points_bytes == 0 ||
            has_size(place, segment->id, CATALOG_POINTS_ENDING,
                     segment->points_bytes));
}
