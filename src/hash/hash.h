/* SPDX-License-Identifier: MIT */
/* Checksums of blocks and fingerprints of contents; the key hash is public. */
#ifndef KSV_HASH_HASH_H
#define KSV_HASH_HASH_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/hash.h>
#include <keysieve/io.h>

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

/* 16 bytes that no other call on any machine is likely to give: for ids and
 * hash keys. Falls back to clock and address when the kernel has none. */
void hash_random_id(uint8_t id[16]);

#endif
