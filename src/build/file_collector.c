/* SPDX-License-Identifier: MIT */
/* Collects the entries of many small data files for one segment. */
#include "build/file_collector.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "build/build_sorter.h"
#include "build/tier_merge.h"

struct file_collector {
    const file_builder *builder;
    uint64_t id;
    entry_sorter *sorter;
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
    ksv_status status = build_sorter_open(&builder->place, id, memory_bytes,
                                          expected_bytes, 1, &c->sorter, error);
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
    entry_sorter_close(collector->sorter);
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
                       .entries = built->entry_count};
    return KSV_OK;
}

ksv_status file_collector_add(file_collector *collector, built_file *built,
                              uint64_t ordinal, ksv_error *error)
{
    file_collector *c = collector;
    entry_adder *adder = entry_sorter_adder(c->sorter, 0);
    KSV_TRY(add_part(c, built, ordinal, error));
    for (size_t i = 0; i < built->entry_count; i++) {
        const hash_entry *entry = &built->entries[i];
        KSV_TRY(entry_adder_add(adder, entry->hash, c->base + entry->payload,
                                error));
    }
    c->base += length_bytes(built);
    return KSV_OK;
}

static ksv_status write(file_collector *c, thread_pool *pool,
                        catalog_segment *out, segment_files *files,
                        ksv_error *error)
{
    const file_builder *builder = c->builder;
    uint64_t distinct_keys;
    KSV_TRY(entry_sorter_finish(c->sorter, builder->parameters->hash_bits, pool,
                                builder->threads, error));
    KSV_TRY(segment_write(&builder->place, c->sorter, c->base, out, files,
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
    entry_sorter_close(c->sorter);
    c->sorter = NULL;
    thread_pool_close(pool);
    return status;
}
