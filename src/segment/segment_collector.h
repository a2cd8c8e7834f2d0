/* SPDX-License-Identifier: MIT */
/* Collects the entries of a segment in bounded memory, and writes it. */
#ifndef KSV_SEGMENT_SEGMENT_COLLECTOR_H
#define KSV_SEGMENT_SEGMENT_COLLECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/thread_pool.h"
#include "hash/hash_entry.h"
#include "scan/record_reader.h"
#include "segment/segment_writer.h"

typedef struct collector_options {
    const segment_place *place; /* borrowed */
    /* Of the sidecars: beyond `memory_bytes` entries are spilled beside them.
     */
    uint64_t id;
    uint64_t memory_bytes;
    uint64_t data_bytes; /* that the entries are of, about */
    unsigned adders;     /* threads that add */
} collector_options;

/* Some entries of one adder. */
typedef struct collector_batch {
    const hash_entry *entries; /* whole hashes, payloads */
    size_t count;
    /* Among these, those with keys are the ones of the entries, in order. */
    const scan_record *records;
    size_t record_count;
} collector_batch;

/* Entries that were taken out, to be added to another collector of the same
 * organisation. All zero: none. */
typedef struct kept_entries {
    hash_entry *entries; /* in order of their truncated hashes */
    size_t count;
    /* Of an organisation that keeps keys: those of the entries in an order of
     * its own, each its payload and length, 8 bytes each, and its bytes. */
    uint8_t *keys;
    size_t keys_bytes;
} kept_entries;

typedef struct segment_collector segment_collector;

/* What an organisation does. An implementation puts `base` first. */
typedef struct collector_ops {
    ksv_status (*add)(segment_collector *c, unsigned adder,
                      const collector_batch *batch, ksv_error *error);
    ksv_status (*add_kept)(segment_collector *c, const kept_entries *kept,
                           uint64_t base, ksv_error *error);
    uint64_t (*count)(const segment_collector *c);
    ksv_status (*finish)(segment_collector *c, thread_pool *pool,
                         unsigned threads, ksv_error *error);
    ksv_status (*write)(segment_collector *c, uint64_t payload_limit,
                        catalog_segment *segment, segment_files *files,
                        uint64_t *distinct_keys, ksv_error *error);
    ksv_status (*keep)(segment_collector *c, kept_entries *out,
                       sorter_distinct *distinct, ksv_error *error);
    void (*close)(segment_collector *c);
} collector_ops;

/* One thread at a time, but for its adders. */
struct segment_collector {
    const collector_ops *ops;
    /* Set before the end of the adding when all entries are of one stretch of a
     * plain data file, in the order of its records as far as an adder sees
     * them, and of so many bytes: what can be read from the data again need not
     * be in the table. 0: it has to be. */
    uint64_t data_limit;
};

/* For the organisation of the index. */
ksv_status segment_collector_open(const collector_options *options,
                                  segment_collector **out, ksv_error *error);
/* Removes what was spilled. NULL is allowed. */
void segment_collector_close(segment_collector *c);

/* Adds a batch; `adder` is used by one thread at a time. After a failure the
 * collector can only be closed. */
static inline ksv_status segment_collector_add(segment_collector *c,
                                               unsigned adder,
                                               const collector_batch *batch,
                                               ksv_error *error)
{
    return c->ops->add(c, adder, batch, error);
}

/* Adds entries with `base` added to their payloads. */
static inline ksv_status segment_collector_add_kept(segment_collector *c,
                                                    const kept_entries *kept,
                                                    uint64_t base,
                                                    ksv_error *error)
{
    return c->ops->add_kept(c, kept, base, error);
}

/* Entries that were added. */
static inline uint64_t segment_collector_count(const segment_collector *c)
{
    return c->ops->count(c);
}

/* Ends the adding: what is left is done by `threads` threads of `pool`
 * (borrowed until the collector is closed), or by the caller when it is NULL.
 */
static inline ksv_status segment_collector_finish(segment_collector *c,
                                                  thread_pool *pool,
                                                  unsigned threads,
                                                  ksv_error *error)
{
    return c->ops->finish(c, pool, threads, error);
}

/* Writes filter and table of all entries, once. `payload_limit` is above every
 * payload. `segment` has its id; its sizes, counts and filter are filled in,
 * but not its parts. The files become members of `*files`, which are to be
 * published or abandoned, on failure too. */
static inline ksv_status
segment_collector_write(segment_collector *c, uint64_t payload_limit,
                        catalog_segment *segment, segment_files *files,
                        uint64_t *distinct_keys, ksv_error *error)
{
    return c->ops->write(c, payload_limit, segment, files, distinct_keys,
                         error);
}

/* Or takes all entries out, into memory; released by the caller, on failure
 * too. */
static inline ksv_status segment_collector_keep(segment_collector *c,
                                                kept_entries *out,
                                                sorter_distinct *distinct,
                                                ksv_error *error)
{
    return c->ops->keep(c, out, distinct, error);
}

void kept_entries_release(const ksv_allocator *allocator, kept_entries *kept);

/* A sorter of (hash, payload) with the memory and the place of a collector. */
ksv_status collector_open_sorter(const collector_options *options,
                                 uint64_t memory_bytes, entry_sorter **out,
                                 ksv_error *error);

#endif
