/* SPDX-License-Identifier: MIT */
/* Collects (key, payload) entries and gives them back in ascending order, in
 * bounded memory. */
#ifndef KSV_SORT_KEY_SORTER_H
#define KSV_SORT_KEY_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "base/thread_pool.h"

/* Below this for each adder a limit cannot be kept. */
#define KEY_SORTER_LEAST_BYTES ((uint64_t)1 << 20)

typedef struct key_sorter_options {
    const ksv_allocator *allocator; /* or NULL */
    uint64_t memory_bytes;          /* bound on memory; 0: none */
    unsigned adders;                /* threads that add; 0 is taken as 1 */
    /* Where to spill beyond the bound: `spill_name` with endings that end in
     * ".tmp" in `directory`. Strings are copied. NULL: nowhere, more memory is
     * taken than the bound. */
    const ksv_file_system *fs;
    const char *directory;
    const char *spill_name; /* up to 16 bytes */
} key_sorter_options;

/* Keys are any bytes, also none; they are compared as bytes, a key before all
 * that it is a beginning of. A key that is longer than the memory of an adder
 * takes more than the bound for as long as it is needed. */
typedef struct key_entry {
    const uint8_t *key;
    size_t key_bytes;
    uint64_t payload;
} key_entry;

/* One thread at a time, but for its adders. What comes out depends on nothing
 * but the entries that went in. */
typedef struct key_sorter key_sorter;

/* Where one thread puts its entries; adders share nothing but the directory. */
typedef struct key_adder key_adder;

ksv_status key_sorter_open(const key_sorter_options *options, key_sorter **out,
                           ksv_error *error);
/* Removes what was spilled. NULL is allowed. */
void key_sorter_close(key_sorter *sorter);

/* Adder `number`, below `adders`; used by one thread at a time. After a failure
 * the sorter can only be closed. */
key_adder *key_sorter_adder(key_sorter *sorter, unsigned number);

/* The key is copied. */
ksv_status key_adder_add(key_adder *adder, const void *key, size_t key_bytes,
                         uint64_t payload, ksv_error *error);

/* Entries that were added, and the highest payload. */
uint64_t key_sorter_count(const key_sorter *sorter);
uint64_t key_sorter_highest(const key_sorter *sorter);

/* Ends the adding. What is in memory is sorted by threads of `pool`, or by the
 * caller when it is NULL. */
ksv_status key_sorter_finish(key_sorter *sorter, thread_pool *pool,
                             ksv_error *error);

/* The next entry by (key, payload), valid until the next call, or `*end`. */
ksv_status key_sorter_next(key_sorter *sorter, key_entry *entry, bool *end,
                           ksv_error *error);

/* Whether anything was written to disk. */
bool key_sorter_spilled(const key_sorter *sorter);

#endif
