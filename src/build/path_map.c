/* SPDX-License-Identifier: MIT */
/* Finds the number that a path was given. */
#include "build/path_map.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "hash/hash.h"

typedef struct path_map_slot {
    const char *path; /* NULL: free */
    size_t number;
} path_map_slot;

#define SLOTS_LEAST 64

/* The slot that `path` has, or the free one where it belongs. */
static path_map_slot *find_slot(const path_map *map, const char *path)
{
    size_t mask = map->slot_count - 1;
    size_t at = (size_t)hash_checksum64(path, strlen(path)) & mask;
    while (map->slots[at].path != NULL &&
           strcmp(map->slots[at].path, path) != 0)
        at = (at + 1) & mask;
    return &map->slots[at];
}

static ksv_status enlarge(path_map *map, ksv_error *error)
{
    path_map larger = {.allocator = map->allocator,
                       .slot_count = map->slot_count > 0 ? 2 * map->slot_count
                                                         : SLOTS_LEAST};
    larger.slots = memory_zalloc_array(map->allocator, larger.slot_count,
                                       sizeof *larger.slots);
    if (larger.slots == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].path != NULL)
            *find_slot(&larger, map->slots[i].path) = map->slots[i];
    larger.count = map->count;
    path_map_release(map);
    *map = larger;
    return KSV_OK;
}

ksv_status path_map_add(path_map *map, const char *path, size_t number,
                        ksv_error *error)
{
    if (2 * map->count >= map->slot_count)
        KSV_TRY(enlarge(map, error));
    *find_slot(map, path) = (path_map_slot){path, number};
    map->count++;
    return KSV_OK;
}

size_t path_map_find(const path_map *map, const char *path)
{
    if (map->slot_count == 0)
        return PATH_MAP_NONE;
    const path_map_slot *slot = find_slot(map, path);
    return slot->path != NULL ? slot->number : PATH_MAP_NONE;
}

void path_map_release(path_map *map)
{
    memory_free(map->allocator, map->slots,
                map->slot_count * sizeof *map->slots);
    *map = (path_map){.allocator = map->allocator};
}
