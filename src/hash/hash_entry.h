/* SPDX-License-Identifier: MIT */
/* What tables are made of: the hash of a key and what it stands for. */
#ifndef KSV_HASH_HASH_ENTRY_H
#define KSV_HASH_HASH_ENTRY_H

#include <stdint.h>

#include <keysieve/hash.h>

typedef struct hash_entry {
    uint64_t hash;
    uint64_t payload;
} hash_entry;

/* Order by (hash, payload), where of hashes only the bits in `mask` count. */
static inline int hash_entry_before(const hash_entry *a, const hash_entry *b,
                                    uint64_t mask)
{
    uint64_t x = a->hash & mask;
    uint64_t y = b->hash & mask;
    return x < y || (x == y && a->payload < b->payload);
}

/* The mask of hashes that are truncated to `hash_bits` (1..64). */
static inline uint64_t hash_entry_mask(unsigned hash_bits)
{
    return ksv_hash_truncate(UINT64_MAX, hash_bits);
}

#endif
