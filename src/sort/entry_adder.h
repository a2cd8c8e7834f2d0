/* SPDX-License-Identifier: MIT */
/* Where one thread puts its entries: partitions by the top bits of hashes. */
#ifndef KSV_SORT_ENTRY_ADDER_H
#define KSV_SORT_ENTRY_ADDER_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "base/error.h"
#include "hash/hash_entry.h"
#include "sort/chunk_pool.h"
#include "sort/spill_file.h"

/* One thread at a time; adders of one sorter share nothing but the spill file,
 * which locks itself. */
typedef struct entry_adder {
    unsigned shift; /* of a hash to its partition */
    size_t partitions;
    const ksv_allocator *allocator; /* borrowed */
    spill_file *spill;              /* borrowed; NULL: never spills */
    chunk_pool pool;
    entry_chunk **firsts; /* a list of chunks a partition; NULL: empty */
    /* Where the next entry of a partition goes: into its last chunk, or at the
     * end of that when it is full; NULL: it has none. */
    hash_entry **tails;
    uint64_t *rooms; /* entries that the chunks of a partition have room for */
    uint64_t in_memory; /* entries */
    uint64_t spilled;
    uint8_t apart[128]; /* from that of another thread, in the cache */
} entry_adder;

typedef struct adder_options {
    const ksv_allocator *allocator; /* borrowed */
    spill_file *spill;
    unsigned partition_bits; /* 1..16 */
    size_t expected_bytes;
    size_t limit_bytes; /* room for a few chunks a partition */
} adder_options;

/* To be released in every case. */
ksv_status entry_adder_init(entry_adder *adder, const adder_options *options,
                            ksv_error *error);
void entry_adder_release(entry_adder *adder);

/* Gives a partition one more chunk; may write all entries to the spill file. */
ksv_status entry_adder_extend(entry_adder *adder, size_t partition,
                              ksv_error *error);

/* After a failure some may have been added. */
ksv_status entry_adder_add_many(entry_adder *adder, const hash_entry *entries,
                                size_t count, ksv_error *error);

static inline ksv_status entry_adder_add(entry_adder *adder, uint64_t hash,
                                         uint64_t payload, ksv_error *error)
{
    hash_entry entry = {hash, payload};
    return entry_adder_add_many(adder, &entry, 1, error);
}

/* Writes what is in memory to the spill file. */
ksv_status entry_adder_spill(entry_adder *adder, ksv_error *error);

/* Entries of `chunk`, which is of `partition`. */
size_t entry_adder_chunk_count(const entry_adder *adder, size_t partition,
                               const entry_chunk *chunk);
/* Entries of a partition in memory. */
size_t entry_adder_count(const entry_adder *adder, size_t partition);

#endif
