/* SPDX-License-Identifier: MIT */
/* Which sidecars a state names. */
#include "catalog/sidecar_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void sort_ids(uint64_t *ids, size_t count)
{
    if (count > 1)
        qsort(ids, count, sizeof *ids, compare_ids);
}

static void collect(sidecar_set *set)
{
    const catalog_state *state = set->state;
    for (size_t i = 0; i < state->segment_count; i++)
        set->filters[set->filter_count++] = state->segments[i].filter.id;
    for (size_t i = 0; i < state->file_count; i++) {
        const catalog_file *file = &state->files[i];
        for (size_t e = 0; e < file->extent_count; e++)
            set->filters[set->filter_count++] = file->extents[e].filter.id;
        if (file->points_id != 0)
            set->points[set->point_count++] = file->points_id;
    }
    sort_ids(set->filters, set->filter_count);
    sort_ids(set->points, set->point_count);
}

ksv_status sidecar_set_open(sidecar_set *set, const catalog_state *state,
                            const ksv_allocator *allocator, ksv_error *error)
{
    *set = (sidecar_set){.state = state, .allocator = allocator};
    size_t filters = state->segment_count;
    for (size_t i = 0; i < state->file_count; i++)
        filters += state->files[i].extent_count;
    set->filter_room = filters;
    set->point_room = state->file_count;
    set->filters = memory_zalloc_array(allocator, filters, sizeof(uint64_t));
    set->points =
        memory_zalloc_array(allocator, set->point_room, sizeof(uint64_t));
    if (set->filters == NULL || set->points == NULL)
        return error_set_memory(error);
    collect(set);
    return KSV_OK;
}

void sidecar_set_close(sidecar_set *set)
{
    memory_free(set->allocator, set->filters,
                set->filter_room * sizeof(uint64_t));
    memory_free(set->allocator, set->points,
                set->point_room * sizeof(uint64_t));
    set->filters = NULL;
    set->points = NULL;
}

static bool has_id(const uint64_t *ids, size_t count, uint64_t id)
{
    return count > 0 && bsearch(&id, ids, count, sizeof *ids, compare_ids);
}

bool sidecar_set_has(const sidecar_set *set, uint64_t id, const char *ending)
{
    if (strcmp(ending, CATALOG_FILTER_ENDING) == 0)
        return has_id(set->filters, set->filter_count, id);
    if (strcmp(ending, CATALOG_POINTS_ENDING) == 0)
        return has_id(set->points, set->point_count, id);
    ksv_organisation organisation = set->state->parameters.organisation;
    return strcmp(ending, catalog_table_ending(organisation)) == 0 &&
           catalog_find_segment(set->state, id) != NULL;
}
