/* SPDX-License-Identifier: MIT */
/* What answering queries and changing a set of runs have in common. */
#ifndef KSV_DEDUP_RUN_SET_PRIVATE_H
#define KSV_DEDUP_RUN_SET_PRIVATE_H

#include "dedup/run_set.h"
#include "dedup/run_writer.h"

/* Pages that are read together, and the candidates that there is room for. */
enum { WAVE_PAGES = 256, CANDIDATES_A_QUERY = 2 };
#define WAVE_BYTES ((size_t)1 << 20)

/* A query that the filter of a run did not answer. */
typedef struct run_candidate {
    const key_run *run;
    uint64_t page;
    uint32_t query;
} run_candidate;

struct run_set {
    ksv_allocator allocator;
    run_set_options options;
    char *directory; /* or NULL */
    /* From the oldest to the newest. */
    key_run **runs;
    size_t count;
    size_t capacity;
    bool has_changed;
    run_set_cost cost;
    /* For queries: */
    uint64_t *hashes;
    bool *answers;
    uint32_t *numbers; /* of queries that are open */
    run_candidate *candidates;
    size_t query_capacity;
    uint8_t *wave;
    size_t wave_bytes;
    uint8_t *page;
    size_t page_bytes;
};

void run_set_free_queries(run_set *set);

#endif
