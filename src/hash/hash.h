/* SPDX-License-Identifier: MIT */
/* Checksums of blocks and fingerprints of contents; the key hash is public. */
#ifndef KSV_HASH_HASH_H
#define KSV_HASH_HASH_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/hash.h>
#include <keysieve/io.h>
#include <keysieve/memory.h>

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

/* The hash of a whole content, fed in pieces: XXH3 of 128 bits over the 64-bit
 * hashes of its chunks of 1 MiB (the last may be shorter), so that chunks could
 * be hashed apart. One thread at a time. */
typedef struct hash_content hash_content;

#define HASH_CONTENT_BYTES 16
#define HASH_CONTENT_CHUNK_BYTES (1024u * 1024)

ksv_status hash_content_open(const ksv_allocator *allocator, hash_content **out,
                             ksv_error *error);
void hash_content_add(hash_content *content, const void *data,
                      size_t size_bytes);
/* The same for a whole chunk (the last may be shorter): its hash may come from
 * another thread, and takes its turn here, where no other chunk is begun. */
uint64_t hash_content_chunk(const void *data, size_t size_bytes);
void hash_content_add_chunk(hash_content *content, uint64_t chunk_hash);

void hash_content_finish(hash_content *content,
                         uint8_t hash[HASH_CONTENT_BYTES]);
void hash_content_close(hash_content *content); /* NULL is allowed */

/* 16 bytes that no other call on any machine is likely to give: for ids and
 * hash keys. Falls back to clock and address when the kernel has none. */
void hash_random_id(uint8_t id[16]);

#endif
