/* SPDX-License-Identifier: MIT */
/* Writes a run: keys in ascending order of their hashes. */
#ifndef KSV_DEDUP_RUN_WRITER_H
#define KSV_DEDUP_RUN_WRITER_H

#include "dedup/run.h"

typedef struct run_writer_options {
    const ksv_file_system *fs; /* borrowed, as all of these */
    const char *path;
    const ksv_allocator *allocator;
    ksv_hasher hasher;
    uint64_t number;
    uint32_t page_bytes;
    uint32_t level;
    int64_t base_time_ms; /* no entry is from before */
    /* Of the filter; no blocks: none. */
    uint64_t filter_blocks;
    unsigned filter_functions;
} run_writer_options;

typedef struct run_writer run_writer;

ksv_status run_writer_open(const run_writer_options *options, run_writer **out,
                           ksv_error *error);
/* Hashes never fall. */
ksv_status run_writer_add(run_writer *writer, uint64_t hash, int64_t time_ms,
                          const void *key, uint64_t key_bytes,
                          ksv_error *error);
/* The same of an entry that another run has, all of whose key is there. */
ksv_status run_writer_add_entry(run_writer *writer, const run_entry *entry,
                                ksv_error *error);
/* Writes what is left and gives the run, open; frees the writer in every case.
 * With `sync` all of it is durable but for its name. */
ksv_status run_writer_finish(run_writer *writer, bool sync, key_run **run,
                             ksv_error *error);
/* Removes what was written. NULL is allowed. */
void run_writer_abandon(run_writer *writer);

#endif
