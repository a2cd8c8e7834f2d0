/* SPDX-License-Identifier: MIT */
/* The state of an index in memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    memset(file, 0, sizeof *file);
}

void catalog_state_release(catalog_state *state)
{
    const ksv_allocator *a = &state->allocator;
    for (size_t i = 0; i < state->file_count; i++)
        catalog_file_release(a, &state->files[i]);
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
                                     const catalog_segment *segment,
                                     ksv_error *error)
{
    void *segments = state->segments;
    ksv_status status =
        memory_grow(&state->allocator, &segments, &state->segment_capacity,
                    state->segment_count + 1, sizeof *segment, error);
    state->segments = segments;
    KSV_TRY(status);
    state->segments[state->segment_count++] = *segment;
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

void catalog_sidecar_name(uint64_t segment_id, const char *ending,
                          char name[CATALOG_NAME_BYTES])
{
    snprintf(name, CATALOG_NAME_BYTES, "%016" PRIx64 "%s", segment_id, ending);
}
