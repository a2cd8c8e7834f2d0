/* SPDX-License-Identifier: MIT */
/* What becomes of the old segments when the end of a data file is replaced. */
#include "build/state_growth.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "segment/organisation.h"

static uint64_t end_of(const catalog_part *part)
{
    return part->first_offset + part->length_bytes;
}

/* Entries of `file` from `offset` on that lie in `part`. */
static uint64_t count_dead(const catalog_file *file, const catalog_part *part,
                           uint64_t offset, bool loses_entry)
{
    uint64_t entries = loses_entry;
    for (size_t i = 0; i < file->extent_count; i++) {
        const catalog_extent *e = &file->extents[i];
        if (e->first_offset >= offset && e->first_offset < end_of(part))
            entries += e->entries;
    }
    return entries;
}

/* Makes two parts of part `index`: the second begins at `offset` and is dead.
 */
static ksv_status split_part(catalog_segment *segment, size_t index,
                             uint64_t offset, uint64_t dead_entries,
                             const ksv_allocator *allocator, ksv_error *error)
{
    size_t count = segment->part_count;
    catalog_part *parts =
        memory_zalloc_array(allocator, count + 1, sizeof *parts);
    if (parts == NULL)
        return error_set_memory(error);
    const catalog_part *old = segment->parts;
    memcpy(parts, old, (index + 1) * sizeof *parts);
    memcpy(&parts[index + 2], &old[index + 1],
           (count - index - 1) * sizeof *parts);
    parts[index + 1] = old[index];
    parts[index].length_bytes = offset - old[index].first_offset;
    parts[index].entries -= dead_entries;
    parts[index + 1].first_offset = offset;
    parts[index + 1].length_bytes -= parts[index].length_bytes;
    parts[index + 1].entries = dead_entries;
    parts[index + 1].is_dead = true;
    memory_free(allocator, segment->parts, count * sizeof *parts);
    segment->parts = parts;
    segment->part_count = count + 1;
    return KSV_OK;
}

static ksv_status cut_segment(catalog_state *state, catalog_segment *segment,
                              const catalog_file *file,
                              const file_growth *growth, ksv_error *error)
{
    uint64_t offset = growth->first_offset;
    for (size_t i = 0; i < segment->part_count; i++) {
        catalog_part *part = &segment->parts[i];
        if (part->ordinal != file->ordinal || part->is_dead ||
            end_of(part) <= offset)
            continue;
        if (part->first_offset >= offset) {
            part->is_dead = true;
            continue;
        }
        uint64_t dead = count_dead(file, part, offset, growth->loses_entry);
        if (dead > part->entries)
            return error_set(error, KSV_ERROR_CORRUPT, NULL,
                             "the catalog counts fewer entries than there are");
        KSV_TRY(split_part(segment, i, offset, dead, &state->allocator, error));
    }
    return KSV_OK;
}

/* Looks for a hash among the entries of a stretch of a file. */
typedef struct hash_search {
    const catalog_segment *segment;
    uint64_t ordinal;
    uint64_t first_offset;
    uint64_t end_offset;
    bool is_found;
} hash_search;

static bool look_at_payload(void *ctx, uint64_t payload)
{
    hash_search *s = ctx;
    uint64_t base = 0;
    for (size_t i = 0; i < s->segment->part_count; i++) {
        const catalog_part *part = &s->segment->parts[i];
        if (payload - base < part->length_bytes) {
            uint64_t offset = part->first_offset + (payload - base);
            s->is_found = part->ordinal == s->ordinal && !part->is_dead &&
                          offset >= s->first_offset && offset < s->end_offset;
            return !s->is_found;
        }
        base += part->length_bytes;
    }
    return true;
}

static bool covers(const catalog_segment *segment, const hash_search *search)
{
    for (size_t i = 0; i < segment->part_count; i++) {
        const catalog_part *part = &segment->parts[i];
        if (part->ordinal == search->ordinal && !part->is_dead &&
            part->first_offset < search->end_offset &&
            end_of(part) > search->first_offset)
            return true;
    }
    return false;
}

static ksv_status search_segment(const segment_place *place,
                                 const catalog_segment *segment,
                                 const table_key *key, hash_search *search,
                                 ksv_error *error)
{
    segment_table table;
    KSV_TRY(segment_open_table(place, segment, &table, error));
    search->segment = segment;
    table_cost cost = {.pages = 0};
    ksv_status status = table.organisation->find(&table, key, look_at_payload,
                                                 search, &cost, error);
    if (status != KSV_OK)
        segment_table_error(place, segment->id, error);
    segment_close_table(&table);
    return status;
}

/* The extent that has lost an entry has a key fewer, unless another record of
 * it has the same one. */
static ksv_status settle_keys(const catalog_state *state,
                              const segment_place *place, uint64_t ordinal,
                              catalog_extent *extent, const table_key *key,
                              ksv_error *error)
{
    hash_search search = {.ordinal = ordinal,
                          .first_offset = extent->first_offset,
                          .end_offset =
                              extent->first_offset + extent->length_bytes};
    for (size_t i = 0; i < state->segment_count && !search.is_found; i++) {
        const catalog_segment *segment = &state->segments[i];
        if (covers(segment, &search))
            KSV_TRY(search_segment(place, segment, key, &search, error));
    }
    if (search.is_found)
        return KSV_OK;
    extent->lost_hashes++;
    extent->distinct_keys--;
    return KSV_OK;
}

ksv_status state_growth_apply(catalog_state *state, const segment_place *place,
                              uint64_t first_new_id, size_t index,
                              built_file *built, ksv_error *error)
{
    const catalog_file *file = &state->files[index];
    const file_growth *growth = &built->growth;
    for (size_t i = 0; i < state->segment_count; i++) {
        catalog_segment *segment = &state->segments[i];
        if (segment->id < first_new_id)
            KSV_TRY(cut_segment(state, segment, file, growth, error));
    }
    if (!growth->loses_entry)
        return KSV_OK;
    const ksv_hasher *hasher = &place->parameters->hasher;
    table_key lost = {
        growth->lost_key, growth->lost_key_bytes,
        ksv_hash(hasher, growth->lost_key, growth->lost_key_bytes), false};
    return settle_keys(state, place, file->ordinal,
                       &built->file.extents[growth->kept_extents - 1], &lost,
                       error);
}
