/* SPDX-License-Identifier: MIT */
/* A few partitions being sorted, by whatever thread. */
#ifndef KSV_SORT_SORT_SLOT_H
#define KSV_SORT_SORT_SLOT_H

#include "base/thread_pool.h"
#include "sort/distinct_counter.h"
#include "sort/entry_adder.h"
#include "sort/partition_sort.h"
#include "sort/spill_file.h"

/* Where partitions come from; constant while slots work. */
typedef struct sort_source {
    const ksv_allocator *allocator;
    const entry_adder *adders;
    size_t adder_count;
    const spill_file *spill; /* NULL: all is in memory */
    unsigned partition_bits;
    unsigned hash_bits;
    uint64_t *counts; /* entries of each partition */
} sort_source;

/* Counts the entries of all partitions; `counts` is freed by the other call. */
ksv_status sort_source_count(sort_source *source, ksv_error *error);
void sort_source_release(sort_source *source);
uint64_t sort_source_largest(const sort_source *source);

/* Bytes of a slot for `capacity` entries. */
size_t sort_slot_bytes(size_t capacity, bool spilled);

typedef struct sort_slot {
    const sort_source *source;
    thread_task task;
    bool submitted;
    size_t first; /* partitions to sort */
    size_t end;
    size_t capacity; /* entries */
    size_t count;
    hash_entry *sorted;
    hash_entry *loaded; /* when spilled: read from disk */
    uint8_t *scratch;   /* likewise */
    entry_span *spans;
    size_t span_capacity;
    partition_sorter sorter;
    distinct_counter counter;
    sorter_distinct distinct;
    ksv_status status;
    ksv_error error;
} sort_slot;

/* To be released in every case. */
ksv_status sort_slot_init(sort_slot *slot, const sort_source *source,
                          size_t capacity, ksv_error *error);
void sort_slot_release(sort_slot *slot);

/* Sorts its partitions, which have room, into `sorted`; fills `count`,
 * `distinct`, `status` and `error`. A thread_task's function. */
void sort_slot_run(void *slot);

/* Reads `count` entries of a partition from number `first` on, counted over all
 * runs, into `loaded`. */
ksv_status sort_slot_load(sort_slot *slot, size_t partition, uint64_t first,
                          size_t count, ksv_error *error);

#endif
