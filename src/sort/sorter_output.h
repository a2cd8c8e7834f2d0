/* SPDX-License-Identifier: MIT */
/* Sorted partitions one after the other, some of them sorted ahead by other
 * threads. */
#ifndef KSV_SORT_SORTER_OUTPUT_H
#define KSV_SORT_SORTER_OUTPUT_H

#include <stdbool.h>

#include "sort/sort_slot.h"

typedef struct output_options {
    sort_source source; /* counted */
    /* For partitions that are larger than memory. */
    const ksv_file_system *fs;
    const char *directory;
    const char *merge_name;
    thread_pool *pool; /* or NULL */
    unsigned threads;
    size_t memory_bytes; /* to sort in */
} output_options;

typedef struct sorter_output sorter_output;

/* Whether what is in memory, `total` entries, can be sorted in
 * `memory_bytes`, and without taking much for each entry. */
bool sorter_output_fits(const output_options *options, uint64_t total);

/* What `options` points to has to stay until the output is closed, but for the
 * counts of its source, which are taken over, on failure too. */
ksv_status sorter_output_open(const output_options *options,
                              sorter_output **out, ksv_error *error);
/* As entry_sorter_next(). */
ksv_status sorter_output_next(sorter_output *output, const hash_entry **entries,
                              size_t *count, ksv_error *error);
/* As entry_sorter_next_kept() and entry_sorter_give_back(). */
ksv_status sorter_output_next_kept(sorter_output *output,
                                   const hash_entry **entries, size_t *count,
                                   bool *kept, ksv_error *error);
void sorter_output_give_back(sorter_output *output);
size_t sorter_output_most_kept(const sorter_output *output);
sorter_distinct sorter_output_distinct(const sorter_output *output);
/* NULL is allowed. */
void sorter_output_close(sorter_output *output);

#endif
