/* SPDX-License-Identifier: MIT */
/* What offering keys, the state and streams of records have in common. */
#ifndef KSV_DEDUP_DEDUP_PRIVATE_H
#define KSV_DEDUP_DEDUP_PRIVATE_H

#include <keysieve/dedup.h>

#include "base/memory.h"
#include "dedup/exact_keys.h"
#include "scan/scan_spec.h"
#include "window/generations.h"

/* Keys that are decided together. */
#define DEDUP_BATCH 1024

#if DEDUP_BATCH > EXACT_KEYS_BATCH || DEDUP_BATCH > GENERATIONS_BATCH
#error "a batch is too large"
#endif

struct dedup_state;

struct ksv_dedup {
    ksv_allocator allocator;
    const ksv_file_system *fs;
    ksv_dedup_options options; /* defaults filled in; pointers are not valid */
    scan_spec *spec;           /* or NULL */
    scan_spec *time_spec;      /* or NULL */
    ksv_hasher hasher;
    exact_keys *exact;         /* one of the two */
    generations *filters;      /* approximate */
    struct dedup_state *state; /* or NULL */
    uint64_t next_number;      /* of files */
    bool has_time;
    int64_t stream_ms;
    uint64_t offered;
    uint64_t passed;
    uint64_t late;
    bool failed;
    ksv_error failure;
    offered_key keys[DEDUP_BATCH];
    window_item items[DEDUP_BATCH];
};

/* Opens the engine, once `hasher` is known. `directory` NULL: nowhere to
 * spill. */
ksv_status dedup_open_engine(ksv_dedup *dedup, const char *directory,
                             bool is_kept, ksv_error *error);

/* Notes a key as passed, at a time of the stream. */
ksv_status dedup_note_passed(ksv_dedup *dedup, const offered_key *key,
                             ksv_error *error);

#endif
