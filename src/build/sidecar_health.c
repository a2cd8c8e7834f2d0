/* SPDX-License-Identifier: MIT */
/* Whether the sidecars that a data file needs are whole. */
#include "build/sidecar_health.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "segment/segment_check.h"

enum { NOT_ASKED = 0, WHOLE = 1, DAMAGED = 2 };

void sidecar_health_open(sidecar_health *health, const segment_place *place,
                         const catalog_state *state, bool only_presence)
{
    memset(health, 0, sizeof *health);
    health->place = *place;
    /* What is wrong with data is found out otherwise. */
    health->place.data = NULL;
    health->state = state;
    health->only_presence = only_presence;
}

void sidecar_health_close(sidecar_health *health)
{
    if (health->state == NULL)
        return;
    const ksv_allocator *a = health->place.allocator;
    memory_free(a, health->segments, health->state->segment_count);
    memory_free(a, health->starts,
                (health->state->file_count + 1) * sizeof *health->starts);
    memory_free(a, health->covering,
                health->covering_count * sizeof *health->covering);
    memset(health, 0, sizeof *health);
}

/* The file that a part belongs to while it lives, or file_count. */
static size_t file_of(const catalog_state *state, const catalog_part *part)
{
    const catalog_file *file =
        part->is_dead ? NULL : catalog_find_file(state, part->ordinal);
    return file != NULL ? (size_t)(file - state->files) : state->file_count;
}

/* Counts the segments of each file, or lists them: a counting sort. */
static void go_through(sidecar_health *health, bool list)
{
    const catalog_state *state = health->state;
    for (size_t s = 0; s < state->segment_count; s++) {
        const catalog_segment *segment = &state->segments[s];
        for (size_t p = 0; p < segment->part_count; p++) {
            size_t file = file_of(state, &segment->parts[p]);
            if (file == state->file_count)
                continue;
            if (list)
                health->covering[--health->starts[file]] = s;
            else
                health->starts[file]++;
        }
    }
}

static ksv_status get_ready(sidecar_health *health, ksv_error *error)
{
    const ksv_allocator *a = health->place.allocator;
    size_t files = health->state->file_count;
    if (health->is_ready)
        return KSV_OK;
    health->segments = memory_zalloc(a, health->state->segment_count);
    health->starts = memory_zalloc_array(a, files + 1, sizeof *health->starts);
    if (health->segments == NULL || health->starts == NULL)
        return error_set_memory(error);
    go_through(health, false);
    for (size_t i = 0; i < files; i++)
        health->starts[i + 1] += health->starts[i];
    health->covering_count = files > 0 ? health->starts[files - 1] : 0;
    health->covering = memory_zalloc_array(a, health->covering_count,
                                           sizeof *health->covering);
    if (health->covering == NULL)
        return error_set_memory(error);
    go_through(health, true);
    health->starts[files] = health->covering_count;
    health->is_ready = true;
    return KSV_OK;
}

static bool look_at_segment(const sidecar_health *health, size_t number)
{
    const catalog_segment *segment = &health->state->segments[number];
    return health->only_presence
               ? segment_is_there(&health->place, segment)
               : segment_check(&health->place, segment, NULL, NULL) == KSV_OK;
}

static bool segment_is_whole(sidecar_health *health, size_t number)
{
    uint8_t *known = &health->segments[number];
    if (*known == NOT_ASKED)
        *known = look_at_segment(health, number) ? WHOLE : DAMAGED;
    return *known == WHOLE;
}

static bool look_at_file(const sidecar_health *health, const catalog_file *file)
{
    return health->only_presence
               ? segment_file_is_there(&health->place, health->state, file)
               : segment_check_file(&health->place, health->state, file,
                                    NULL) == KSV_OK;
}

ksv_status sidecar_health_ask(sidecar_health *health, size_t index,
                              bool *is_whole, ksv_error *error)
{
    const catalog_file *file = &health->state->files[index];
    *is_whole = true;
    if (file->extent_count == 0)
        return KSV_OK;
    KSV_TRY(get_ready(health, error));
    for (size_t i = health->starts[index]; i < health->starts[index + 1]; i++)
        *is_whole = *is_whole && segment_is_whole(health, health->covering[i]);
    *is_whole = *is_whole && look_at_file(health, file);
    return KSV_OK;
}
