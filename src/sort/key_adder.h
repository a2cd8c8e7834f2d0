/* SPDX-License-Identifier: MIT */
/* Where one thread puts its entries: sorted chunks, and runs beyond a limit. */
#ifndef KSV_SORT_KEY_ADDER_H
#define KSV_SORT_KEY_ADDER_H

#include "base/thread_pool.h"
#include "sort/key_chunk.h"
#include "sort/key_run.h"
#include "sort/key_sorter.h"

struct key_adder {
    const ksv_allocator *allocator; /* borrowed */
    uint64_t limit_bytes;           /* of chunks; UINT64_MAX: none */
    uint64_t total_bytes;           /* of the chunks there are */
    key_chunk *first;
    key_chunk *last;
    key_chunk *current; /* the only one that is not sorted; NULL: none */
    uint64_t count;     /* entries, with those on disk */
    uint64_t highest;   /* payload */
    key_run_file runs;  /* unused while there is no limit */
    thread_task task;
    uint8_t apart[128]; /* from that of another thread, in the cache */
};

/* `adder` is all zero. To be released in every case. `fs` NULL: never spills.
 */
ksv_status key_adder_init(key_adder *adder, const ksv_allocator *allocator,
                          uint64_t limit_bytes, const ksv_file_system *fs,
                          const char *directory, const char *name,
                          ksv_error *error);
void key_adder_release(key_adder *adder);

/* Sorts what is not sorted. A thread_task's function. */
void key_adder_sort(void *adder);

/* Writes what is in memory as a run, and gives the memory back. */
ksv_status key_adder_spill(key_adder *adder, ksv_error *error);

size_t key_adder_chunk_count(const key_adder *adder);

#endif
