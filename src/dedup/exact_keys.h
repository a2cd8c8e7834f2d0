/* SPDX-License-Identifier: MIT */
/* Tells keys that were passed from those that were not, without a mistake. */
#ifndef KSV_DEDUP_EXACT_KEYS_H
#define KSV_DEDUP_EXACT_KEYS_H

#include "dedup/run_set.h"

/* A key that is offered. */
typedef struct offered_key {
    const uint8_t *key;
    size_t key_bytes;
    uint64_t hash;
    int64_t time_ms; /* never falls from one to the next; 0 without a window */
} offered_key;

/* So many at once. */
#define EXACT_KEYS_BATCH 1024

/* Keys in memory, and runs on disk for what does not fit. One thread at a time.
 * After an error it can only be closed. */
typedef struct exact_keys exact_keys;

/* `options->memory_bytes` is for all of it. */
ksv_status exact_keys_open(const run_set_options *options, exact_keys **out,
                           ksv_error *error);
/* NULL is allowed. */
void exact_keys_close(exact_keys *exact);

/* Of up to EXACT_KEYS_BATCH keys, in their order, tells which are fresh: were
 * not passed less than a window ago. Those are passed now. */
ksv_status exact_keys_decide(exact_keys *exact, const offered_key *keys,
                             size_t count, bool *fresh, ksv_error *error);

/* Notes a key as passed, whatever is known of it. */
ksv_status exact_keys_note(exact_keys *exact, const offered_key *key,
                           ksv_error *error);

/* Moves all keys from memory to disk. */
ksv_status exact_keys_flush(exact_keys *exact, int64_t now_ms,
                            ksv_error *error);
/* How often that has happened, for whatever reason. */
uint64_t exact_keys_flushes(const exact_keys *exact);

run_set *exact_keys_runs(exact_keys *exact);
uint64_t exact_keys_memory_bytes(const exact_keys *exact);

#endif
