/* SPDX-License-Identifier: MIT */
/* Collects the entries of many small data files for one segment. */
#include "build/file_collector.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "build/tier_merge.h"

struct file_collector {
    const file_builder *builder;
    uint64_t id;
    segment_collector *entries;
    catalog_part *parts;
    size_t part_count;
    size_t part_capacity;
    uint64_t base; /* of the next part */
};

ksv_status file_collector_open(const file_builder *builder, uint64_t id,
                               uint64_t memory_bytes, uint64_t expected_bytes,
                               file_collector **out, ksv_error *error)
{
    *out = NULL;
    file_collector *c = memory_zalloc(builder->place.allocator, sizeof *c);
    if (c == NULL)
        return error_set_memory(error);
    c->builder = builder;
    c->id = id;
    collector_options options = {.place = &builder->place,
                                 .id = id,
                                 .memory_bytes = memory_bytes,
                                 .data_bytes = expected_bytes,
                                 .adders = 1};
    ksv_status status = segment_collector_open(&options, &c->entries, error);
    if (status != KSV_OK) {
        file_collector_close(c);
        return status;
    }
    *out = c;
    return KSV_OK;
}

void file_collector_close(file_collector *collector)
{
    if (collector == NULL)
        return;
    const ksv_allocator *a = collector->builder->place.allocator;
    segment_collector_close(collector->entries);
    memory_free(a, collector->parts,
                collector->part_capacity * sizeof *collector->parts);
    memory_free(a, collector, sizeof *collector);
}

/* What was indexed of the file. */
static uint64_t first_offset(const built_file *built)
{
    return built->growth.is_grown ? built->growth.first_offset : 0;
}

static uint64_t length_bytes(const built_file *built)
{
    return built->file.content_bytes - first_offset(built);
}

static ksv_status add_part(file_collector *c, const built_file *built,
                           uint64_t ordinal, ksv_error *error)
{
    void *items = c->parts;
    ksv_status status =
        memory_grow(c->builder->place.allocator, &items, &c->part_capacity,
                    c->part_count + 1, sizeof *c->parts, error);
    c->parts = items;
    KSV_TRY(status);
    c->parts[c->part_count++] =
        (catalog_part){.ordinal = ordinal,
                       .first_offset = first_offset(built),
                       .length_bytes = length_bytes(built),
                       .entries = built->kept.count};
    return KSV_OK;
}

ksv_status file_collector_add(file_collector *collector, built_file *built,
                              uint64_t ordinal, ksv_error *error)
{
    file_collector *c = collector;
    KSV_TRY(add_part(c, built, ordinal, error));
    KSV_TRY(
        segment_collector_add_kept(c->entries, &built->kept, c->base, error));
    c->base += length_bytes(built);
    return KSV_OK;
}

static ksv_status write(file_collector *c, thread_pool *pool,
                        catalog_segment *out, segment_files *files,
                        ksv_error *error)
{
    const file_builder *builder = c->builder;
    uint64_t distinct_keys;
    KSV_TRY(
        segment_collector_finish(c->entries, pool, builder->threads, error));
    KSV_TRY(segment_collector_write(c->entries, c->base, out, files,
                                    &distinct_keys, error));
    KSV_TRY(catalog_segment_make_parts(builder->place.allocator, out,
                                       c->part_count, error));
    memcpy(out->parts, c->parts, c->part_count * sizeof *c->parts);
    return KSV_OK;
}

ksv_status file_collector_finish(file_collector *collector,
                                 catalog_segment *out, segment_files *files,
                                 ksv_error *error)
{
    file_collector *c = collector;
    const file_builder *builder = c->builder;
    *out = (catalog_segment){.id = 0};
    if (c->part_count == 0)
        return KSV_OK;
    out->id = c->id;
    out->tier = tier_of_new(c->part_count);
    /* Without other threads it takes longer. */
    thread_pool *pool = NULL;
    if (builder->threads > 1 &&
        thread_pool_open(builder->threads, builder->place.allocator, &pool,
                         NULL) != KSV_OK)
        pool = NULL;
    ksv_status status = write(c, pool, out, files, error);
    segment_collector_close(c->entries);
    c->entries = NULL;
    thread_pool_close(pool);
    return status;
}
