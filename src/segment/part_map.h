/* SPDX-License-Identifier: MIT */
/* Which part of a segment a payload lies in. */
#ifndef KSV_SEGMENT_PART_MAP_H
#define KSV_SEGMENT_PART_MAP_H

#include "catalog/catalog.h"

/* Where the parts of an address space begin: part i at bases[i]; bases[count]
 * is the end of the last one. */
typedef struct part_map {
    uint64_t *bases;
    size_t count;
} part_map;

ksv_status part_map_open(part_map *map, const catalog_part *parts, size_t count,
                         const ksv_allocator *allocator, ksv_error *error);
/* Also of one that is all zero. */
void part_map_close(part_map *map, const ksv_allocator *allocator);

/* The end of the address space: payloads are below it. */
static inline uint64_t part_map_span(const part_map *map)
{
    return map->bases[map->count];
}

/* The part of a payload below the span. The steps depend on the number of parts
 * alone, so that none is guessed wrong. */
static inline size_t part_map_find(const part_map *map, uint64_t payload)
{
    const uint64_t *first = map->bases;
    for (size_t left = map->count; left > 1;) {
        size_t half = left / 2;
        first += first[half] <= payload ? half : 0;
        left -= half;
    }
    return (size_t)(first - map->bases);
}

#endif
