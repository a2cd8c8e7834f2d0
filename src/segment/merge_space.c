/* SPDX-License-Identifier: MIT */
/* The address space of several segments together: their living parts. */
#include "segment/merge_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* A living part, on its way to its place. */
typedef struct part_place {
    const catalog_part *part;
    size_t input;
    size_t number; /* in its segment */
} part_place;

static int compare_places(const void *a, const void *b)
{
    const catalog_part *left = ((const part_place *)a)->part;
    const catalog_part *right = ((const part_place *)b)->part;
    if (left->ordinal != right->ordinal)
        return left->ordinal < right->ordinal ? -1 : 1;
    return (left->first_offset > right->first_offset) -
           (left->first_offset < right->first_offset);
}

static bool goes_on(const catalog_part *last, const catalog_part *next)
{
    return last->ordinal == next->ordinal &&
           last->first_offset + last->length_bytes == next->first_offset;
}

static void add_part(merge_space *space, const catalog_part *part)
{
    size_t count = space->part_count;
    catalog_part *last = count > 0 ? &space->parts[count - 1] : NULL;
    space->entries += part->entries;
    if (last != NULL && goes_on(last, part)) {
        last->length_bytes += part->length_bytes;
        last->entries += part->entries;
        return;
    }
    space->parts[space->part_count++] = *part;
}

/* Lays the parts end to end. */
static ksv_status place_parts(merge_space *space, part_place *places,
                              ksv_error *error)
{
    size_t count = space->part_room;
    if (count > 1)
        qsort(places, count, sizeof *places, compare_places);
    uint64_t base = 0;
    for (size_t i = 0; i < count; i++) {
        const part_place *place = &places[i];
        space_input *input = &space->inputs[place->input];
        input->shifts[place->number] = base - input->map.bases[place->number];
        base += place->part->length_bytes;
        add_part(space, place->part);
    }
    return part_map_open(&space->map, space->parts, space->part_count,
                         space->allocator, error);
}

static void list_places(const merge_space *space, part_place *places)
{
    size_t count = 0;
    for (size_t i = 0; i < space->input_count; i++) {
        const catalog_segment *segment = space->inputs[i].segment;
        for (size_t p = 0; p < segment->part_count; p++)
            if (!segment->parts[p].is_dead)
                places[count++] = (part_place){&segment->parts[p], i, p};
    }
}

static ksv_status open_inputs(merge_space *space,
                              const catalog_segment *const *segments,
                              ksv_error *error)
{
    const ksv_allocator *a = space->allocator;
    for (size_t i = 0; i < space->input_count; i++) {
        space_input *input = &space->inputs[i];
        const catalog_segment *segment = segments[i];
        input->segment = segment;
        KSV_TRY(part_map_open(&input->map, segment->parts, segment->part_count,
                              a, error));
        input->shifts =
            memory_zalloc_array(a, segment->part_count, sizeof *input->shifts);
        if (input->shifts == NULL)
            return error_set_memory(error);
        for (size_t p = 0; p < segment->part_count; p++)
            space->part_room += !segment->parts[p].is_dead;
    }
    return KSV_OK;
}

ksv_status merge_space_open(merge_space *space,
                            const catalog_segment *const *segments,
                            size_t count, const ksv_allocator *allocator,
                            ksv_error *error)
{
    memset(space, 0, sizeof *space);
    space->allocator = allocator;
    space->inputs =
        memory_zalloc_array(allocator, count, sizeof *space->inputs);
    if (space->inputs == NULL)
        return error_set_memory(error);
    space->input_count = count;
    KSV_TRY(open_inputs(space, segments, error));
    size_t room = space->part_room;
    space->parts = memory_zalloc_array(allocator, room, sizeof *space->parts);
    part_place *places = memory_zalloc_array(allocator, room, sizeof *places);
    ksv_status status;
    if (space->parts == NULL || places == NULL) {
        status = error_set_memory(error);
    } else {
        list_places(space, places);
        status = place_parts(space, places, error);
    }
    memory_free(allocator, places, room * sizeof *places);
    return status;
}

void merge_space_close(merge_space *space)
{
    const ksv_allocator *a = space->allocator;
    for (size_t i = 0; i < space->input_count; i++) {
        space_input *input = &space->inputs[i];
        part_map_close(&input->map, a);
        if (input->segment != NULL)
            memory_free(a, input->shifts,
                        input->segment->part_count * sizeof *input->shifts);
    }
    memory_free(a, space->inputs, space->input_count * sizeof *space->inputs);
    memory_free(a, space->parts, space->part_room * sizeof *space->parts);
    part_map_close(&space->map, a);
    space->inputs = NULL;
    space->input_count = 0;
}

const catalog_part *merge_space_find(const merge_space *space, uint64_t payload,
                                     uint64_t *offset)
{
    size_t number = part_map_find(&space->map, payload);
    const catalog_part *part = &space->parts[number];
    *offset = part->first_offset + (payload - space->map.bases[number]);
    return part;
}
