/* SPDX-License-Identifier: MIT */
/* The hash of a key, as filters and tables store it. */
#ifndef KEYSIEVE_HASH_H
#define KEYSIEVE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ksv_hash_kind {
    /* XXH3, 64 bits, seeded with the first 8 bytes of the hash key. Not for
     * keys that an adversary chooses. */
    KSV_HASH_XXH3 = 1,
    /* SipHash-1-3 with a key of 128 bits (Aumasson and Bernstein, "SipHash: a
     * fast short-input PRF", 2012). */
    KSV_HASH_SIPHASH = 2
} ksv_hash_kind;

/* Which hash with which secret. A plain value: copy it freely. */
typedef struct ksv_hasher {
    ksv_hash_kind kind;
    uint8_t key[16];
} ksv_hasher;

/* The 64-bit hash of `key_bytes` bytes at `key`. Thread-safe; cannot fail. An
 * unknown kind hashes as KSV_HASH_XXH3. */
KSV_API uint64_t ksv_hash(const ksv_hasher *hasher, const void *key,
                          size_t key_bytes);

/* `hash` with all but its `hash_bits` highest bits (1..64) cleared: the form in
 * which filters and tables take and give hashes. */
static inline uint64_t ksv_hash_truncate(uint64_t hash, unsigned hash_bits)
{
    return hash_bits >= 64 ? hash : hash & ~(UINT64_MAX >> hash_bits);
}

#ifdef __cplusplus
}
#endif

#endif
