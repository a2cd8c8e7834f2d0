/* SPDX-License-Identifier: MIT */
/* Finds the number that a path was given. */
#ifndef KSV_BUILD_PATH_MAP_H
#define KSV_BUILD_PATH_MAP_H

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include <stddef.h>
#include <stdint.h>

#define PATH_MAP_NONE SIZE_MAX

/* All zero but for `allocator` is an empty one. */
typedef struct path_map {
    const ksv_allocator *allocator; /* borrowed */
    struct path_map_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
} path_map;

/* `path` is borrowed for as long as the map; it is not in it yet. */
ksv_status path_map_add(path_map *map, const char *path, size_t number,
                        ksv_error *error);

/* The number of `path`, or PATH_MAP_NONE. */
size_t path_map_find(const path_map *map, const char *path);

void path_map_release(path_map *map);

#endif
