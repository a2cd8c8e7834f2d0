/* SPDX-License-Identifier: MIT */
/* Which part of a segment a payload lies in. */
#include "segment/part_map.h"

#include "base/error.h"
#include "base/memory.h"

ksv_status part_map_open(part_map *map, const catalog_part *parts, size_t count,
                         const ksv_allocator *allocator, ksv_error *error)
{
    map->count = count;
    map->bases = memory_zalloc_array(allocator, count + 1, sizeof *map->bases);
    if (map->bases == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < count; i++)
        map->bases[i + 1] = map->bases[i] + parts[i].length_bytes;
    return KSV_OK;
}

void part_map_close(part_map *map, const ksv_allocator *allocator)
{
    memory_free(allocator, map->bases, (map->count + 1) * sizeof *map->bases);
    *map = (part_map){NULL, 0};
}
