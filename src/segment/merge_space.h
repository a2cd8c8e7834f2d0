/* SPDX-License-Identifier: MIT */
/* The address space of several segments together: their living parts. */
#ifndef KSV_SEGMENT_MERGE_SPACE_H
#define KSV_SEGMENT_MERGE_SPACE_H

#include <stdbool.h>

#include "segment/part_map.h"

/* How the payloads of one segment move. */
typedef struct space_input {
    part_map map;
    uint64_t *shifts; /* of each part, modulo 2^64 */
    const catalog_segment *segment;
} space_input;

/* Parts in the order of files, then offsets; those that follow each other in a
 * file are one. So payloads are in the order of the answer to a lookup. */
typedef struct merge_space {
    const ksv_allocator *allocator; /* borrowed */
    catalog_part *parts;
    size_t part_count;
    size_t part_room;
    part_map map;
    space_input *inputs;
    size_t input_count;
    uint64_t entries; /* of all living parts */
} merge_space;

/* `segments` and what they point to are borrowed. */
ksv_status merge_space_open(merge_space *space,
                            const catalog_segment *const *segments,
                            size_t count, const ksv_allocator *allocator,
                            ksv_error *error);
/* Also after a failure. */
void merge_space_close(merge_space *space);

/* What becomes of a payload, below the span, of segment number `input`; false
 * when it is in a dead part. */
static inline bool merge_space_move(const merge_space *space, size_t input,
                                    uint64_t *payload)
{
    const space_input *from = &space->inputs[input];
    size_t part = part_map_find(&from->map, *payload);
    *payload += from->shifts[part];
    return !from->segment->parts[part].is_dead;
}

/* The file and the offset in it that a payload of the space stands for. */
const catalog_part *merge_space_find(const merge_space *space, uint64_t payload,
                                     uint64_t *offset);

#endif
