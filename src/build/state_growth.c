/* SPDX-License-Identifier: MIT */
/* What becomes of the old segments when the ends of data files are replaced. */
#include "build/state_growth.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "segment/organisation.h"

void state_growth_close(state_growth *growth)
{
    if (growth->state == NULL)
        return;
    const ksv_allocator *a = &growth->state->allocator;
    memory_free(a, growth->parts, growth->part_count * sizeof *growth->parts);
    memory_free(a, growth->cuts, growth->cut_capacity * sizeof *growth->cuts);
    *growth = (state_growth){.state = NULL};
}

static uint64_t end_of(const catalog_part *part)
{
    return part->first_offset + part->length_bytes;
}

/* Counts the living parts of old segments, or lists them. */
static size_t go_through(const state_growth *g, growth_part *list)
{
    const catalog_state *state = g->state;
    size_t count = 0;
    for (size_t i = 0; i < state->segment_count; i++) {
        const catalog_segment *segment = &state->segments[i];
        uint64_t base = 0;
        for (size_t p = 0;
             segment->id < g->first_new_id && p < segment->part_count; p++) {
            const catalog_part *part = &segment->parts[p];
            if (!part->is_dead && list != NULL)
                list[count] = (growth_part){part->ordinal, i, p, base};
            count += !part->is_dead;
            base += part->length_bytes;
        }
    }
    return count;
}

static int compare_places(size_t a_segment, size_t a_part, size_t b_segment,
                          size_t b_part)
{
    if (a_segment != b_segment)
        return a_segment < b_segment ? -1 : 1;
    return (a_part > b_part) - (a_part < b_part);
}

static int compare_parts(const void *a, const void *b)
{
    const growth_part *left = a;
    const growth_part *right = b;
    if (left->ordinal != right->ordinal)
        return left->ordinal < right->ordinal ? -1 : 1;
    return compare_places(left->segment, left->part, right->segment,
                          right->part);
}

static int compare_cuts(const void *a, const void *b)
{
    const growth_cut *left = a;
    const growth_cut *right = b;
    return compare_places(left->segment, left->part, right->segment,
                          right->part);
}

static ksv_status list_parts(state_growth *g, ksv_error *error)
{
    if (g->is_listed)
        return KSV_OK;
    size_t count = go_through(g, NULL);
    g->parts =
        memory_zalloc_array(&g->state->allocator, count, sizeof *g->parts);
    if (g->parts == NULL)
        return error_set_memory(error);
    g->part_count = count;
    go_through(g, g->parts);
    if (count > 1)
        qsort(g->parts, count, sizeof *g->parts, compare_parts);
    g->is_listed = true;
    return KSV_OK;
}

/* The first part of the file, or of one behind it. */
static size_t find_file(const state_growth *g, uint64_t ordinal)
{
    size_t low = 0;
    size_t high = g->part_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->parts[middle].ordinal < ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_of(const state_growth *g, size_t i, uint64_t ordinal)
{
    return i < g->part_count && g->parts[i].ordinal == ordinal;
}

static catalog_part *part_at(const state_growth *g, size_t i)
{
    const growth_part *p = &g->parts[i];
    return &g->state->segments[p->segment].parts[p->part];
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

static ksv_status cut_part(state_growth *g, size_t i, const catalog_file *file,
                           const file_growth *growth, ksv_error *error)
{
    catalog_part *part = part_at(g, i);
    uint64_t offset = growth->first_offset;
    if (end_of(part) <= offset)
        return KSV_OK;
    if (part->first_offset >= offset) {
        part->is_dead = true;
        return KSV_OK;
    }
    uint64_t dead = count_dead(file, part, offset, growth->loses_entry);
    if (dead > part->entries)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "the catalog counts fewer entries than there are");
    void *items = g->cuts;
    ksv_status status =
        memory_grow(&g->state->allocator, &items, &g->cut_capacity,
                    g->cut_count + 1, sizeof *g->cuts, error);
    g->cuts = items;
    KSV_TRY(status);
    g->cuts[g->cut_count++] =
        (growth_cut){g->parts[i].segment, g->parts[i].part, offset, dead};
    return KSV_OK;
}

/* Looks for a key among the entries of a stretch of a file: in those parts of
 * one segment that are of the file. */
typedef struct key_search {
    const state_growth *growth;
    size_t first; /* of the list, up to `end` */
    size_t end;
    uint64_t first_offset;
    uint64_t end_offset;
    bool is_found;
} key_search;

static bool look_at_payload(void *ctx, uint64_t payload)
{
    key_search *s = ctx;
    for (size_t i = s->first; i < s->end && !s->is_found; i++) {
        const catalog_part *part = part_at(s->growth, i);
        uint64_t into = payload - s->growth->parts[i].base;
        uint64_t offset = part->first_offset + into;
        s->is_found = into < part->length_bytes && !part->is_dead &&
                      offset >= s->first_offset && offset < s->end_offset;
    }
    return !s->is_found;
}

static bool covers(const key_search *search)
{
    for (size_t i = search->first; i < search->end; i++) {
        const catalog_part *part = part_at(search->growth, i);
        if (!part->is_dead && part->first_offset < search->end_offset &&
            end_of(part) > search->first_offset)
            return true;
    }
    return false;
}

static ksv_status search_segment(key_search *search, const table_key *key,
                                 ksv_error *error)
{
    const state_growth *g = search->growth;
    const catalog_segment *segment =
        &g->state->segments[g->parts[search->first].segment];
    segment_table table;
    KSV_TRY(segment_open_table(g->place, segment, &table, error));
    table_cost cost = {.pages = 0};
    ksv_status status = table.organisation->find(&table, key, look_at_payload,
                                                 search, &cost, error);
    if (status != KSV_OK)
        segment_table_error(g->place, segment->id, error);
    segment_close_table(&table);
    return status;
}

/* The extent that has lost an entry has a key fewer, unless another record of
 * it has the same one. `first` is the first part of the file. */
static ksv_status settle_keys(const state_growth *g, size_t first,
                              catalog_extent *extent, const table_key *key,
                              ksv_error *error)
{
    uint64_t ordinal = first < g->part_count ? g->parts[first].ordinal : 0;
    key_search search = {.growth = g,
                         .end = first,
                         .first_offset = extent->first_offset,
                         .end_offset =
                             extent->first_offset + extent->length_bytes};
    while (is_of(g, search.end, ordinal) && !search.is_found) {
        search.first = search.end;
        while (is_of(g, search.end, ordinal) &&
               g->parts[search.end].segment == g->parts[search.first].segment)
            search.end++;
        if (covers(&search))
            KSV_TRY(search_segment(&search, key, error));
    }
    if (search.is_found)
        return KSV_OK;
    extent->lost_hashes++;
    extent->distinct_keys--;
    return KSV_OK;
}

ksv_status state_growth_add(state_growth *growth, size_t index,
                            built_file *built, ksv_error *error)
{
    state_growth *g = growth;
    const catalog_file *file = &g->state->files[index];
    const file_growth *how = &built->growth;
    KSV_TRY(list_parts(g, error));
    size_t first = find_file(g, file->ordinal);
    for (size_t i = first; is_of(g, i, file->ordinal); i++)
        KSV_TRY(cut_part(g, i, file, how, error));
    if (!how->loses_entry)
        return KSV_OK;
    const ksv_hasher *hasher = &g->place->parameters->hasher;
    table_key lost = {how->lost_key, how->lost_key_bytes,
                      ksv_hash(hasher, how->lost_key, how->lost_key_bytes),
                      false};
    /* The extent before those that are new. */
    return settle_keys(g, first, &built->file.extents[how->kept_extents - 1],
                       &lost, error);
}

/* A part and, behind it, its dead half. */
static void put_halves(catalog_part *to, const catalog_part *part,
                       const growth_cut *cut)
{
    to[0] = to[1] = *part;
    to[0].length_bytes = cut->offset - part->first_offset;
    to[0].entries -= cut->dead_entries;
    to[1].first_offset = cut->offset;
    to[1].length_bytes -= to[0].length_bytes;
    to[1].entries = cut->dead_entries;
    to[1].is_dead = true;
}

/* Makes all `count` cuts of one segment. */
static ksv_status cut_segment(const state_growth *g, const growth_cut *cuts,
                              size_t count, ksv_error *error)
{
    const ksv_allocator *a = &g->state->allocator;
    catalog_segment *segment = &g->state->segments[cuts->segment];
    size_t old_count = segment->part_count;
    catalog_part *parts =
        memory_zalloc_array(a, old_count + count, sizeof *parts);
    if (parts == NULL)
        return error_set_memory(error);
    size_t done = 0;
    for (size_t i = 0; i < old_count; i++) {
        if (done < count && cuts[done].part == i) {
            put_halves(&parts[i + done], &segment->parts[i], &cuts[done]);
            done++;
        } else {
            parts[i + done] = segment->parts[i];
        }
    }
    memory_free(a, segment->parts, old_count * sizeof *parts);
    segment->parts = parts;
    segment->part_count = old_count + count;
    return KSV_OK;
}

ksv_status state_growth_finish(state_growth *growth, ksv_error *error)
{
    state_growth *g = growth;
    if (g->cut_count > 1)
        qsort(g->cuts, g->cut_count, sizeof *g->cuts, compare_cuts);
    for (size_t from = 0, end; from < g->cut_count; from = end) {
        end = from + 1;
        while (end < g->cut_count &&
               g->cuts[end].segment == g->cuts[from].segment)
            end++;
        KSV_TRY(cut_segment(g, &g->cuts[from], end - from, error));
    }
    g->cut_count = 0;
    return KSV_OK;
}
