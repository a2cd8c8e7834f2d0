/* SPDX-License-Identifier: MIT */
/* Finds paths among many. */
#ifndef KSV_BUILD_PATH_TABLE_H
#define KSV_BUILD_PATH_TABLE_H

#include <stddef.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#define PATH_TABLE_NONE SIZE_MAX

/* A hash table with linear probing. All zero but for `allocator` is an empty
 * one. */
typedef struct path_table {
    const ksv_allocator *allocator; /* borrowed */
    struct path_slot *slots;
    size_t slot_count;
    size_t count;
} path_table;

void path_table_close(path_table *table);

/* `path` is borrowed until the table is closed; one that is there already keeps
 * its number. */
ksv_status path_table_add(path_table *table, const char *path, size_t number,
                          ksv_error *error);

/* The number that `path` was added with, or PATH_TABLE_NONE. */
size_t path_table_find(const path_table *table, const char *path);

#endif
