/* SPDX-License-Identifier: MIT */
/* Collects (hash, payload) entries and gives them back in ascending order. */
#ifndef KSV_SORT_ENTRY_SORTER_H
#define KSV_SORT_ENTRY_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

typedef struct sort_entry {
    uint64_t hash;
    uint64_t payload;
} sort_entry;

/* One thread at a time. */
typedef struct entry_sorter entry_sorter;

ksv_status entry_sorter_open(const ksv_allocator *allocator, entry_sorter **out,
                             ksv_error *error);
void entry_sorter_close(entry_sorter *sorter);

/* Of entries with equal hashes the payloads have to come in ascending order. */
ksv_status entry_sorter_add(entry_sorter *sorter, uint64_t hash,
                            uint64_t payload, ksv_error *error);

size_t entry_sorter_count(const entry_sorter *sorter);

/* Truncates all hashes to `hash_bits` and sorts by (hash, payload). Afterwards
 * nothing may be added. */
ksv_status entry_sorter_finish(entry_sorter *sorter, unsigned hash_bits,
                               ksv_error *error);

/* The sorted entries; valid until the sorter is closed. */
const sort_entry *entry_sorter_entries(const entry_sorter *sorter);

/* How many different truncated hashes there are. */
uint64_t entry_sorter_distinct(const entry_sorter *sorter);

#endif
