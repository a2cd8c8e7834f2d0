/* SPDX-License-Identifier: MIT */
/* Finds paths among many. */
#include "build/path_table.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "hash/hash.h"

#define LEAST_SLOTS 64

typedef struct path_slot {
    const char *path; /* NULL: free */
    uint64_t hash;
    size_t number;
} path_slot;

static uint64_t hash_path(const char *path)
{
    return hash_checksum64(path, strlen(path));
}

/* Where a path stands, or the free slot where it belongs. */
static path_slot *find_slot(const path_table *table, const char *path,
                            uint64_t hash)
{
    size_t at = (size_t)hash & (table->slot_count - 1);
    for (;;) {
        path_slot *slot = &table->slots[at];
        if (slot->path == NULL ||
            (slot->hash == hash && strcmp(slot->path, path) == 0))
            return slot;
        at = (at + 1) & (table->slot_count - 1);
    }
}

void path_table_close(path_table *table)
{
    memory_free(table->allocator, table->slots,
                table->slot_count * sizeof *table->slots);
    *table = (path_table){.allocator = table->allocator};
}

/* At most half of the slots are in use. */
static ksv_status make_room(path_table *table, ksv_error *error)
{
    if (table->count < table->slot_count / 2)
        return KSV_OK;
    path_table larger = *table;
    larger.slot_count =
        table->slot_count > 0 ? 2 * table->slot_count : LEAST_SLOTS;
    larger.slots = memory_zalloc_array(table->allocator, larger.slot_count,
                                       sizeof *larger.slots);
    if (larger.slots == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < table->slot_count; i++) {
        const path_slot *slot = &table->slots[i];
        if (slot->path != NULL)
            *find_slot(&larger, slot->path, slot->hash) = *slot;
    }
    path_table_close(table);
    *table = larger;
    return KSV_OK;
}

ksv_status path_table_add(path_table *table, const char *path, size_t number,
                          ksv_error *error)
{
    KSV_TRY(make_room(table, error));
    uint64_t hash = hash_path(path);
    path_slot *slot = find_slot(table, path, hash);
    if (slot->path != NULL)
        return KSV_OK;
    *slot = (path_slot){path, hash, number};
    table->count++;
    return KSV_OK;
}

size_t path_table_find(const path_table *table, const char *path)
{
    if (table->count == 0)
        return PATH_TABLE_NONE;
    const path_slot *slot = find_slot(table, path, hash_path(path));
    return slot->path != NULL ? slot->number : PATH_TABLE_NONE;
}
