/* SPDX-License-Identifier: MIT */
/* Checksums of blocks and fingerprints of contents; the key hash is public. */
#ifndef KSV_HASH_HASH_H
#define KSV_HASH_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/hash.h>
#include <keysieve/io.h>
#include <keysieve/memory.h>

/* Whether both give every key the same hash. */
bool hash_same_hasher(const ksv_hasher *a, const ksv_hasher *b);

/* The checksum of a block of an index file: the low 32 bits of XXH3-64. */
uint32_t hash_checksum32(const void *data, size_t size_bytes);

/* The whole of it, for blocks whose checksum is not repeated often. */
uint64_t hash_checksum64(const void *data, size_t size_bytes);

#define HASH_FINGERPRINT_BYTES 16

/* The fingerprint of a content of `size_bytes` bytes: of small ones all, of
 * others the beginning, the end and samples spread over the middle, at places
 * that depend on the size only. `file` is read at up to
 * HASH_FINGERPRINT_READS places. A file shorter than `size_bytes` gives
 * KSV_ERROR_STALE. */
#define HASH_FINGERPRINT_READS 18
ksv_status hash_fingerprint(ksv_file *file, uint64_t size_bytes,
                            uint8_t fingerprint[HASH_FINGERPRINT_BYTES],
                            ksv_error *error);

/* The same of a content that is in memory. */
void hash_fingerprint_of(const void *content, size_t size_bytes,
                         uint8_t fingerprint[HASH_FINGERPRINT_BYTES]);

/* XXH3 of 128 bits: the low half, then the high half. */
#define HASH_WIDE_BYTES 16
void hash_wide(const void *data, size_t size_bytes,
               uint8_t hash[HASH_WIDE_BYTES]);

/* The same of bytes that come in pieces. One thread at a time. */
typedef struct hash_wide_state hash_wide_state;

ksv_status hash_wide_open(const ksv_allocator *allocator, hash_wide_state **out,
                          ksv_error *error);
void hash_wide_add(hash_wide_state *state, const void *data, size_t size_bytes);
/* The hash of what was added since the last call, or the beginning. */
void hash_wide_take(hash_wide_state *state, uint8_t hash[HASH_WIDE_BYTES]);
void hash_wide_close(hash_wide_state *state); /* NULL is allowed */

/* 16 bytes that no other call on any machine is likely to give: for ids and
 * hash keys. Falls back to clock and address when the kernel has none. */
void hash_random_id(uint8_t id[16]);

#endif
