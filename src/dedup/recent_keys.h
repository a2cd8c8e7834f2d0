/* SPDX-License-Identifier: MIT */
/* The keys that came last, in memory, in the order of their hashes. */
#ifndef KSV_DEDUP_RECENT_KEYS_H
#define KSV_DEDUP_RECENT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

/* A key in memory; it stays where it is until the table is cleared. */
typedef struct recent_key {
    uint64_t hash;
    int64_t time_ms; /* when it was passed last */
    uint64_t key_bytes : 62;
    uint64_t on_disk : 1;    /* a run has it with this time */
    uint64_t is_pending : 1; /* nobody knows yet whether a run has it */
    uint8_t key[];
} recent_key;

/* A table with linear probing whose slots follow the top bits of the hash: read
 * from end to end it is almost sorted (compare Gonnet and Munro, "A linear
 * probing sort and its analysis", 1981). One thread at a time. */
typedef struct recent_keys recent_keys;

/* Takes up to `memory_bytes` bytes; a single key may pass that. */
ksv_status recent_keys_open(uint64_t memory_bytes,
                            const ksv_allocator *allocator, recent_keys **out,
                            ksv_error *error);
/* NULL is allowed. */
void recent_keys_close(recent_keys *keys);

/* Fetches what a search for `hash` will need. */
void recent_keys_prefetch(const recent_keys *keys, uint64_t hash);

/* The key, or NULL. */
recent_key *recent_keys_find(const recent_keys *keys, uint64_t hash,
                             const void *key, size_t key_bytes);

/* Adds a key that is not there, passed at `time_ms`. `*added` NULL: there is no
 * room until the table is cleared; an empty one takes every key. */
ksv_status recent_keys_add(recent_keys *keys, uint64_t hash, const void *key,
                           size_t key_bytes, int64_t time_ms,
                           recent_key **added, ksv_error *error);

uint64_t recent_keys_count(const recent_keys *keys);
/* The earliest time that a key was added with; INT64_MAX when there is none. */
int64_t recent_keys_earliest_ms(const recent_keys *keys);
uint64_t recent_keys_memory_bytes(const recent_keys *keys);

/* All keys in ascending order of hashes. */
typedef ksv_status (*recent_keys_fn)(void *ctx, const recent_key *key,
                                     ksv_error *error);
ksv_status recent_keys_visit(recent_keys *keys, recent_keys_fn visit, void *ctx,
                             ksv_error *error);

/* Forgets all keys; keeps memory for as many. */
void recent_keys_clear(recent_keys *keys);

#endif
