/* SPDX-License-Identifier: MIT */
/* All keys that are not in memory: runs on disk, merged as they grow in number,
 * forgotten when their time has passed. */
#ifndef KSV_DEDUP_RUN_SET_H
#define KSV_DEDUP_RUN_SET_H

#include "dedup/recent_keys.h"
#include "dedup/run.h"

/* So many runs of one level become one of the next. */
#define RUN_SET_FAN_OUT 8

typedef struct run_set_options {
    const ksv_file_system *fs;
    const char *directory; /* for the runs; copied; NULL: there can be none */
    /* Files are synced, and stay when their runs were dropped: who keeps a
     * state removes them. Otherwise nothing is left. */
    bool is_kept;
    ksv_hasher hasher;
    uint64_t memory_bytes; /* for filters, fences and merging */
    int64_t window_ms;     /* 0: nothing is forgotten */
    int64_t slice_ms;      /* of the window: runs of two are never merged */
    uint64_t *next_number; /* of files; borrowed */
    const ksv_allocator *allocator;
} run_set_options;

/* One thread at a time. After an error it can only be closed. */
typedef struct run_set run_set;

ksv_status run_set_open(const run_set_options *options, run_set **out,
                        ksv_error *error);
/* NULL is allowed. */
void run_set_close(run_set *set);

/* Takes a run that is there already. */
ksv_status run_set_adopt(run_set *set, uint64_t number, ksv_error *error);

/* Writes a run of the keys that are not on disk and not forgotten, then merges
 * what has become too many. `keys` stays as it is. */
ksv_status run_set_add(run_set *set, recent_keys *keys, int64_t now_ms,
                       ksv_error *error);

/* Answers queries. */
ksv_status run_set_query(run_set *set, run_query *queries, size_t count,
                         ksv_error *error);

size_t run_set_count(const run_set *set);
const key_run *run_set_get(const run_set *set, size_t index);

/* Whether runs were added or dropped since run_set_accept(). */
bool run_set_has_changed(const run_set *set);
void run_set_accept(run_set *set);

/* What it took so far. */
typedef struct run_set_cost {
    uint64_t entries; /* of all runs */
    uint64_t disk_bytes;
    uint64_t memory_bytes;
    uint64_t pages_read;
    uint64_t runs_written;
    uint64_t bytes_written;
} run_set_cost;

void run_set_get_cost(const run_set *set, run_set_cost *cost);

#endif
