/* SPDX-License-Identifier: MIT */
/* Writes a run out of keys in memory or out of other runs. */
#ifndef KSV_DEDUP_RUN_MERGE_H
#define KSV_DEDUP_RUN_MERGE_H

#include "dedup/recent_keys.h"
#include "dedup/run_writer.h"

/* Where the entries of a run come from. */
typedef struct run_source {
    const ksv_allocator *allocator; /* borrowed */
    int64_t forgotten_ms;           /* entries of that time or before go */
    recent_keys *keys;              /* or NULL */
    key_run **runs;
    size_t run_count;
    size_t run_capacity;
} run_source;

void run_source_init_keys(run_source *source, const ksv_allocator *allocator,
                          int64_t forgotten_ms, recent_keys *keys);
void run_source_init_merge(run_source *source, const ksv_allocator *allocator,
                           int64_t forgotten_ms);
/* `run` is borrowed; it is not asked any more, and its filter is freed. */
ksv_status run_source_add_run(run_source *source, key_run *run,
                              ksv_error *error);
bool run_source_has_run(const run_source *source, const key_run *run);
void run_source_release(run_source *source);

typedef struct run_plan {
    const ksv_file_system *fs;
    const char *path;
    const ksv_allocator *allocator;
    ksv_hasher hasher;
    uint64_t number;
    bool sync;
    uint64_t memory_bytes;  /* for all runs */
    uint64_t used_bytes;    /* of it, by others */
    uint64_t other_entries; /* of theirs */
    uint64_t other_fence_bytes;
    int64_t now_ms;
    int64_t kept_ms; /* how long entries stay; 0: for ever */
} run_plan;

/* Writes the run, which may turn out to be empty. */
ksv_status run_source_write(run_source *source, const run_plan *plan,
                            key_run **run, ksv_error *error);

#endif
