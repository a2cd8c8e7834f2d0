/* SPDX-License-Identifier: MIT */
/* Key hash, checksums and fingerprints: the only user of xxHash. */
#include "hash/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"
#include "hash/hash_dispatch.h"
#include "hash/siphash.h"
#include "io/file.h"
#include "io/random.h"

uint64_t ksv_hash(const ksv_hasher *hasher, const void *key, size_t key_bytes)
{
    if (hasher->kind == KSV_HASH_SIPHASH)
        return siphash_1_3(hasher->key, key, key_bytes);
    return XXH3_64bits_withSeed(key, key_bytes, load_u64(hasher->key));
}

bool hash_same_hasher(const ksv_hasher *a, const ksv_hasher *b)
{
    return a->kind == b->kind && memcmp(a->key, b->key, sizeof a->key) == 0;
}

/* Shorter inputs are hashed without the instructions that it would find. */
#define DISPATCH_BYTES 512

uint64_t hash_checksum64(const void *data, size_t size_bytes)
{
#ifdef KSV_HAVE_XXH_DISPATCH
    if (size_bytes >= DISPATCH_BYTES)
        return hash_dispatch_64(data, size_bytes);
#endif
    return XXH3_64bits(data, size_bytes);
}

uint32_t hash_checksum32(const void *data, size_t size_bytes)
{
    return (uint32_t)hash_checksum64(data, size_bytes);
}

#define FINGERPRINT_PIECE_BYTES 4096
#define FINGERPRINT_SAMPLES (HASH_FINGERPRINT_READS - 2)
/* A content is read whole when that takes no more reads than sampling. */
#define FINGERPRINT_WHOLE_BYTES \
    ((uint64_t)FINGERPRINT_SAMPLES * FINGERPRINT_PIECE_BYTES)

typedef struct fingerprint_pass {
    XXH3_state_t state;
    ksv_file *file;
    const uint8_t *content; /* instead of the file, or NULL */
    uint8_t piece[FINGERPRINT_PIECE_BYTES];
} fingerprint_pass;

static ksv_status add_piece(fingerprint_pass *pass, uint64_t offset,
                            size_t size_bytes, ksv_error *error)
{
    size_t got;
    if (pass->content != NULL) {
        XXH3_128bits_update(&pass->state, pass->content + offset, size_bytes);
        return KSV_OK;
    }
    KSV_TRY(pass->file->ops->read_at(pass->file, offset, pass->piece,
                                     size_bytes, &got, error));
    if (got < size_bytes)
        return error_set_at(error, KSV_ERROR_STALE, NULL, offset + got,
                            "is shorter than it was");
    XXH3_128bits_update(&pass->state, pass->piece, size_bytes);
    return KSV_OK;
}

static ksv_status add_all(fingerprint_pass *pass, uint64_t size_bytes,
                          ksv_error *error)
{
    for (uint64_t at = 0; at < size_bytes; at += FINGERPRINT_PIECE_BYTES) {
        uint64_t left = size_bytes - at;
        size_t piece = left < FINGERPRINT_PIECE_BYTES ? (size_t)left
                                                      : FINGERPRINT_PIECE_BYTES;
        KSV_TRY(add_piece(pass, at, piece, error));
    }
    return KSV_OK;
}

/* Where sample `i` begins: in the middle of the i-th of equal parts of what
 * lies between the first and the last piece, at a page of the file. */
static uint64_t sample_offset(uint64_t size_bytes, unsigned i)
{
    uint64_t span = size_bytes - 3 * FINGERPRINT_PIECE_BYTES;
    uint64_t parts = 2 * FINGERPRINT_SAMPLES;
    uint64_t part = 2 * i + 1;
    uint64_t into = span / parts * part + span % parts * part / parts;
    return FINGERPRINT_PIECE_BYTES + into - into % FINGERPRINT_PIECE_BYTES;
}

static ksv_status add_samples(fingerprint_pass *pass, uint64_t size_bytes,
                              ksv_error *error)
{
    KSV_TRY(add_piece(pass, 0, FINGERPRINT_PIECE_BYTES, error));
    for (unsigned i = 0; i < FINGERPRINT_SAMPLES; i++)
        KSV_TRY(add_piece(pass, sample_offset(size_bytes, i),
                          FINGERPRINT_PIECE_BYTES, error));
    return add_piece(pass, size_bytes - FINGERPRINT_PIECE_BYTES,
                     FINGERPRINT_PIECE_BYTES, error);
}

static ksv_status run_pass(fingerprint_pass *pass, uint64_t size_bytes,
                           uint8_t fingerprint[HASH_FINGERPRINT_BYTES],
                           ksv_error *error)
{
    XXH3_128bits_reset(&pass->state);
    uint8_t size[8];
    store_u64(size, size_bytes);
    XXH3_128bits_update(&pass->state, size, sizeof size);
    if (size_bytes <= FINGERPRINT_WHOLE_BYTES)
        KSV_TRY(add_all(pass, size_bytes, error));
    else
        KSV_TRY(add_samples(pass, size_bytes, error));
    XXH128_hash_t digest = XXH3_128bits_digest(&pass->state);
    store_u64(fingerprint, digest.low64);
    store_u64(fingerprint + 8, digest.high64);
    return KSV_OK;
}

ksv_status hash_fingerprint(ksv_file *file, uint64_t size_bytes,
                            uint8_t fingerprint[HASH_FINGERPRINT_BYTES],
                            ksv_error *error)
{
    fingerprint_pass pass;
    pass.file = file;
    pass.content = NULL;
    return run_pass(&pass, size_bytes, fingerprint, error);
}

void hash_fingerprint_of(const void *content, size_t size_bytes,
                         uint8_t fingerprint[HASH_FINGERPRINT_BYTES])
{
    fingerprint_pass pass;
    pass.file = NULL;
    pass.content = content;
    /* Nothing can fail where nothing is read. */
    ksv_status ignored = run_pass(&pass, size_bytes, fingerprint, NULL);
    (void)ignored;
}

void hash_random_id(uint8_t id[16])
{
    if (random_bytes(id, 16))
        return;
    uint64_t seen[3] = {(uint64_t)clock_realtime_ns(), clock_monotonic_ns(),
                        (uint64_t)(uintptr_t)id};
    XXH128_hash_t digest = XXH3_128bits(seen, sizeof seen);
    store_u64(id, digest.low64);
    store_u64(id + 8, digest.high64);
}

static void store_wide(uint8_t hash[HASH_WIDE_BYTES], XXH128_hash_t digest)
{
    store_u64(hash, digest.low64);
    store_u64(hash + 8, digest.high64);
}

void hash_wide(const void *data, size_t size_bytes,
               uint8_t hash[HASH_WIDE_BYTES])
{
#ifdef KSV_HAVE_XXH_DISPATCH
    if (size_bytes >= DISPATCH_BYTES) {
        XXH128_hash_t digest;
        hash_dispatch_128(data, size_bytes, &digest.low64, &digest.high64);
        store_wide(hash, digest);
        return;
    }
#endif
    store_wide(hash, XXH3_128bits(data, size_bytes));
}

struct hash_wide_state {
    ksv_allocator allocator;
    /* The state has to be aligned more than an allocator does. */
    void *memory;
    XXH3_state_t *state;
};

#define STATE_ALIGNMENT 64
#define STATE_MEMORY_BYTES (sizeof(XXH3_state_t) + STATE_ALIGNMENT)

ksv_status hash_wide_open(const ksv_allocator *allocator, hash_wide_state **out,
                          ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    hash_wide_state *wide = memory_zalloc(&a, sizeof *wide);
    void *memory = memory_zalloc(&a, STATE_MEMORY_BYTES);
    if (wide == NULL || memory == NULL) {
        memory_free(&a, wide, sizeof *wide);
        memory_free(&a, memory, STATE_MEMORY_BYTES);
        return error_set_memory(error);
    }
    uintptr_t aligned = ((uintptr_t)memory + STATE_ALIGNMENT - 1) &
                        ~(uintptr_t)(STATE_ALIGNMENT - 1);
    *wide = (hash_wide_state){
        .allocator = a, .memory = memory, .state = (XXH3_state_t *)aligned};
    XXH3_128bits_reset(wide->state);
    *out = wide;
    return KSV_OK;
}

void hash_wide_add(hash_wide_state *state, const void *data, size_t size_bytes)
{
#ifdef KSV_HAVE_XXH_DISPATCH
    if (size_bytes >= DISPATCH_BYTES &&
        hash_dispatch_knows(XXH_VERSION_NUMBER)) {
        hash_dispatch_update(state->state, data, size_bytes);
        return;
    }
#endif
    XXH3_128bits_update(state->state, data, size_bytes);
}

void hash_wide_take(hash_wide_state *state, uint8_t hash[HASH_WIDE_BYTES])
{
    store_wide(hash, XXH3_128bits_digest(state->state));
    XXH3_128bits_reset(state->state);
}

void hash_wide_close(hash_wide_state *state)
{
    if (state == NULL)
        return;
    ksv_allocator a = state->allocator;
    memory_free(&a, state->memory, STATE_MEMORY_BYTES);
    memory_free(&a, state, sizeof *state);
}
