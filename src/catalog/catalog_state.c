/* SPDX-License-Identifier: MIT */
/* The state of an index in memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "catalog/catalog.h"

void catalog_state_init(catalog_state *state, const ksv_allocator *allocator)
{
    memset(state, 0, sizeof *state);
    state->allocator = allocator_or_default(allocator);
    state->next_segment_id = 1;
}

void catalog_file_release(const ksv_allocator *allocator, catalog_file *file)
{
    memory_free_string(allocator, file->given_path);
    memory_free_string(allocator, file->relative_path);
    memory_free(allocator, file->layout, file->layout_bytes);
    memory_free(allocator, file->extents,
                file->extent_count * sizeof *file->extents);
    memset(file, 0, sizeof *file);
}

void catalog_segment_release(const ksv_allocator *allocator,
                             catalog_segment *segment)
{
    memory_free(allocator, segment->parts,
                segment->part_count * sizeof *segment->parts);
    memset(segment, 0, sizeof *segment);
}

ksv_status catalog_file_make_extents(const ksv_allocator *allocator,
                                     catalog_file *file, size_t count,
                                     ksv_error *error)
{
    file->extents =
        memory_zalloc_array(allocator, count, sizeof *file->extents);
    if (file->extents == NULL)
        return error_set_memory(error);
    file->extent_count = count;
    return KSV_OK;
}

ksv_status catalog_segment_make_parts(const ksv_allocator *allocator,
                                      catalog_segment *segment, size_t count,
                                      ksv_error *error)
{
    segment->parts =
        memory_zalloc_array(allocator, count, sizeof *segment->parts);
    if (segment->parts == NULL)
        return error_set_memory(error);
    segment->part_count = count;
    return KSV_OK;
}

uint64_t catalog_segment_span(const catalog_segment *segment)
{
    uint64_t span = 0;
    for (size_t i = 0; i < segment->part_count; i++)
        span += segment->parts[i].length_bytes;
    return span;
}

/* All of it lies in the arena. */
static void release_arena(catalog_state *state)
{
    const ksv_allocator from = arena_source(state->arena);
    arena_close(state->arena);
    catalog_state_init(state, &from);
}

void catalog_state_release(catalog_state *state)
{
    if (state->arena != NULL) {
        release_arena(state);
        return;
    }
    const ksv_allocator *a = &state->allocator;
    for (size_t i = 0; i < state->file_count; i++)
        catalog_file_release(a, &state->files[i]);
    for (size_t i = 0; i < state->segment_count; i++)
        catalog_segment_release(a, &state->segments[i]);
    memory_free(a, state->files, state->file_capacity * sizeof *state->files);
    memory_free(a, state->segments,
                state->segment_capacity * sizeof *state->segments);
    memory_free(a, state->parameters.format, state->parameters.format_bytes);
    memory_free(a, state->parameters.watch, state->parameters.watch_bytes);
    ksv_allocator allocator = state->allocator;
    catalog_state_init(state, &allocator);
}

ksv_status catalog_state_add_file(catalog_state *state, catalog_file *file,
                                  ksv_error *error)
{
    void *files = state->files;
    ksv_status status =
        memory_grow(&state->allocator, &files, &state->file_capacity,
                    state->file_count + 1, sizeof *file, error);
    state->files = files;
    if (status != KSV_OK) {
        catalog_file_release(&state->allocator, file);
        return status;
    }
    state->files[state->file_count++] = *file;
    memset(file, 0, sizeof *file);
    return KSV_OK;
}

ksv_status catalog_state_add_segment(catalog_state *state,
                                     catalog_segment *segment, ksv_error *error)
{
    void *segments = state->segments;
    ksv_status status =
        memory_grow(&state->allocator, &segments, &state->segment_capacity,
                    state->segment_count + 1, sizeof *segment, error);
    state->segments = segments;
    if (status != KSV_OK) {
        catalog_segment_release(&state->allocator, segment);
        return status;
    }
    state->segments[state->segment_count++] = *segment;
    memset(segment, 0, sizeof *segment);
    return KSV_OK;
}

const catalog_segment *catalog_find_segment(const catalog_state *state,
                                            uint64_t id)
{
    size_t low = 0;
    size_t high = state->segment_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->segments[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == state->segment_count || state->segments[low].id != id)
        return NULL;
    return &state->segments[low];
}

const catalog_file *catalog_find_file(const catalog_state *state,
                                      uint64_t ordinal)
{
    size_t low = 0;
    size_t high = state->file_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->files[middle].ordinal < ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == state->file_count || state->files[low].ordinal != ordinal)
        return NULL;
    return &state->files[low];
}

const catalog_file *catalog_find_file_near(const catalog_state *state,
                                           uint64_t ordinal, size_t *next)
{
    if (*next >= state->file_count || state->files[*next].ordinal != ordinal) {
        const catalog_file *found = catalog_find_file(state, ordinal);
        if (found == NULL)
            return NULL;
        *next = (size_t)(found - state->files);
    }
    return &state->files[(*next)++];
}

const char *catalog_table_ending(ksv_organisation organisation)
{
    switch (organisation) {
    case KSV_ORGANISATION_SORTED:
        return CATALOG_SORTED_ENDING;
    case KSV_ORGANISATION_BTREE:
        return CATALOG_TREE_ENDING;
    case KSV_ORGANISATION_HASH:
    case KSV_ORGANISATION_DEFAULT:
        break;
    }
    return CATALOG_TABLE_ENDING;
}

void catalog_sidecar_name(uint64_t id, const char *ending,
                          char name[CATALOG_NAME_BYTES])
{
    snprintf(name, CATALOG_NAME_BYTES, "%016" PRIx64 "%s", id, ending);
}
