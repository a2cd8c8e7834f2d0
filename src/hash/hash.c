/* SPDX-License-Identifier: MIT */
/* Key hash, checksums and fingerprints: the only user of xxHash. */
#include "hash/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"
#include "hash/siphash.h"
#include "io/file.h"
#include "io/random.h"

uint64_t ksv_hash(const ksv_hasher *hasher, const void *key, size_t key_bytes)
{
    if (hasher->kind == KSV_HASH_SIPHASH)
        return siphash_1_3(hasher->key, key, key_bytes);
    return XXH3_64bits_withSeed(key, key_bytes, load_u64(hasher->key));
}

uint32_t hash_checksum32(const void *data, size_t size_bytes)
{
    return (uint32_t)XXH3_64bits(data, size_bytes);
}

uint64_t hash_checksum64(const void *data, size_t size_bytes)
{
    return XXH3_64bits(data, size_bytes);
}

#define FINGERPRINT_PIECE_BYTES 4096
#define FINGERPRINT_SAMPLES (HASH_FINGERPRINT_READS - 2)
/* A content is read whole when that takes no more reads than sampling. */
#define FINGERPRINT_WHOLE_BYTES \
    ((uint64_t)FINGERPRINT_SAMPLES * FINGERPRINT_PIECE_BYTES)

typedef struct fingerprint_pass {
    XXH3_state_t state;
    ksv_file *file;
    uint8_t piece[FINGERPRINT_PIECE_BYTES];
} fingerprint_pass;

static ksv_status add_piece(fingerprint_pass *pass, uint64_t offset,
                            size_t size_bytes, ksv_error *error)
{
    size_t got;
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

ksv_status hash_fingerprint(ksv_file *file, uint64_t size_bytes,
                            uint8_t fingerprint[HASH_FINGERPRINT_BYTES],
                            ksv_error *error)
{
    fingerprint_pass pass;
    pass.file = file;
    XXH3_128bits_reset(&pass.state);
    uint8_t size[8];
    store_u64(size, size_bytes);
    XXH3_128bits_update(&pass.state, size, sizeof size);
    if (size_bytes <= FINGERPRINT_WHOLE_BYTES)
        KSV_TRY(add_all(&pass, size_bytes, error));
    else
        KSV_TRY(add_samples(&pass, size_bytes, error));
    XXH128_hash_t digest = XXH3_128bits_digest(&pass.state);
    store_u64(fingerprint, digest.low64);
    store_u64(fingerprint + 8, digest.high64);
    return KSV_OK;
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

struct hash_content {
    ksv_allocator allocator;
    void
        *memory; /* the states have to be aligned more than an allocator does */
    size_t memory_bytes;
    XXH3_state_t *chunk;
    XXH3_state_t *whole;
    size_t chunk_bytes; /* in the chunk so far */
};

#define STATE_ALIGNMENT 64

ksv_status hash_content_open(const ksv_allocator *allocator, hash_content **out,
                             ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    hash_content *content = memory_zalloc(&a, sizeof *content);
    size_t bytes = 2 * sizeof(XXH3_state_t) + STATE_ALIGNMENT;
    void *memory = memory_zalloc(&a, bytes);
    if (content == NULL || memory == NULL) {
        memory_free(&a, content, sizeof *content);
        memory_free(&a, memory, bytes);
        return error_set_memory(error);
    }
    uintptr_t aligned = ((uintptr_t)memory + STATE_ALIGNMENT - 1) &
                        ~(uintptr_t)(STATE_ALIGNMENT - 1);
    *content = (hash_content){.allocator = a,
                              .memory = memory,
                              .memory_bytes = bytes,
                              .chunk = (XXH3_state_t *)aligned,
                              .whole = (XXH3_state_t *)aligned + 1};
    XXH3_64bits_reset(content->chunk);
    XXH3_128bits_reset(content->whole);
    *out = content;
    return KSV_OK;
}

uint64_t hash_content_chunk(const void *data, size_t size_bytes)
{
    return XXH3_64bits(data, size_bytes);
}

void hash_content_add_chunk(hash_content *content, uint64_t chunk_hash)
{
    uint8_t bytes[8];
    store_u64(bytes, chunk_hash);
    XXH3_128bits_update(content->whole, bytes, sizeof bytes);
}

static void end_chunk(hash_content *content)
{
    hash_content_add_chunk(content, XXH3_64bits_digest(content->chunk));
    XXH3_64bits_reset(content->chunk);
    content->chunk_bytes = 0;
}

void hash_content_add(hash_content *content, const void *data,
                      size_t size_bytes)
{
    const uint8_t *p = data;
    while (size_bytes > 0) {
        size_t room = HASH_CONTENT_CHUNK_BYTES - content->chunk_bytes;
        size_t take = size_bytes < room ? size_bytes : room;
        XXH3_64bits_update(content->chunk, p, take);
        content->chunk_bytes += take;
        p += take;
        size_bytes -= take;
        if (content->chunk_bytes == HASH_CONTENT_CHUNK_BYTES)
            end_chunk(content);
    }
}

void hash_content_finish(hash_content *content,
                         uint8_t hash[HASH_CONTENT_BYTES])
{
    if (content->chunk_bytes > 0)
        end_chunk(content);
    XXH128_hash_t h = XXH3_128bits_digest(content->whole);
    store_u64(hash, h.low64);
    store_u64(hash + 8, h.high64);
}

void hash_content_close(hash_content *content)
{
    if (content == NULL)
        return;
    ksv_allocator a = content->allocator;
    memory_free(&a, content->memory, content->memory_bytes);
    memory_free(&a, content, sizeof *content);
}
