/* SPDX-License-Identifier: MIT */
/* Collects (hash, payload) entries and gives them back in ascending order, in
 * bounded memory. */
#ifndef KSV_SORT_ENTRY_SORTER_H
#define KSV_SORT_ENTRY_SORTER_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "base/thread_pool.h"
#include "sort/distinct_counter.h"
#include "sort/entry_adder.h"

/* Below this a limit cannot be kept. */
#define ENTRY_SORTER_LEAST_BYTES ((uint64_t)2 << 20)

typedef struct entry_sorter_options {
    const ksv_allocator *allocator; /* or NULL */
    uint64_t memory_bytes;          /* bound on memory; 0: none */
    uint64_t expected_entries;      /* a guess; 0: no idea */
    unsigned adders;                /* threads that add; 0 is taken as 1 */
    /* Where to spill beyond the bound: `spill_name` with the endings
     * ".spill.tmp" and ".merge.tmp" in `directory`. Strings are copied. NULL:
     * nowhere, more memory is taken than the bound. */
    const ksv_file_system *fs;
    const char *directory;
    const char *spill_name; /* up to 16 bytes */
} entry_sorter_options;

/* One thread at a time, but for its adders. What comes out depends on nothing
 * but the set of entries that went in and `hash_bits`. */
typedef struct entry_sorter entry_sorter;

ksv_status entry_sorter_open(const entry_sorter_options *options,
                             entry_sorter **out, ksv_error *error);
/* Removes what was spilled. NULL is allowed. */
void entry_sorter_close(entry_sorter *sorter);

/* Adder `number`, below `adders`; used by one thread at a time. After a failure
 * the sorter can only be closed. */
entry_adder *entry_sorter_adder(entry_sorter *sorter, unsigned number);

/* Entries that were added. */
uint64_t entry_sorter_count(const entry_sorter *sorter);

/* Ends the adding and chooses the order: by (hash truncated to `hash_bits`,
 * payload), 32..64. Partitions are sorted by `threads` threads of `pool`
 * (borrowed until the sorter is closed), or by the caller when it is NULL. */
ksv_status entry_sorter_finish(entry_sorter *sorter, unsigned hash_bits,
                               thread_pool *pool, unsigned threads,
                               ksv_error *error);

/* The next sorted entries, with their whole hashes, valid until the next call;
 * `*count` 0: there are no more. */
ksv_status entry_sorter_next(entry_sorter *sorter, const hash_entry **entries,
                             size_t *count, ksv_error *error);

/* The same, but entries that come with `*kept` stay valid until they are given
 * back, those that came first first; before entries that come without it are
 * used all have to be given back. No more than entry_sorter_most_kept() (0 is
 * possible) may be kept when this is called. Of the two ways one is used. */
ksv_status entry_sorter_next_kept(entry_sorter *sorter,
                                  const hash_entry **entries, size_t *count,
                                  bool *kept, ksv_error *error);
void entry_sorter_give_back(entry_sorter *sorter);
size_t entry_sorter_most_kept(const entry_sorter *sorter);

/* The threads that sort; NULL: none. */
thread_pool *entry_sorter_pool(const entry_sorter *sorter);

/* Of all entries given out so far, when all of them were. */
void entry_sorter_distinct(const entry_sorter *sorter,
                           sorter_distinct *distinct);

/* Whether anything was written to disk. */
bool entry_sorter_spilled(const entry_sorter *sorter);

#endif
