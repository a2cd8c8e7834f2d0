/* SPDX-License-Identifier: MIT */
/* The hash of the whole content of a data file: a chain over its blocks, which
 * goes on where a file has grown. */
#ifndef KSV_DATAFILE_CONTENT_HASH_H
#define KSV_DATAFILE_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "hash/hash.h"

#define CONTENT_HASH_BYTES HASH_WIDE_BYTES
/* All blocks but the last one have that many bytes. */
#define CONTENT_BLOCK_BYTES ((size_t)1 << 20)

/* What the first `blocks` whole blocks of a content come to. All zero: of
 * none. Block by block, `value` becomes the XXH3-128 of itself followed by the
 * XXH3-128 of the block. */
typedef struct content_chain {
    uint8_t value[CONTENT_HASH_BYTES];
    uint64_t blocks;
} content_chain;

/* One thread at a time. */
typedef struct content_hash content_hash;

/* Goes on behind the blocks of `from` (NULL: at the start of the content). */
ksv_status content_hash_open(const content_chain *from,
                             const ksv_allocator *allocator, content_hash **out,
                             ksv_error *error);

/* The next bytes of the content, in pieces of any size. */
void content_hash_add(content_hash *hash, const void *data, size_t size_bytes);

/* Ends the content: `value` is its hash, `chain` (may be NULL) what to keep to
 * go on when the content has grown. Then only closed. */
void content_hash_finish(content_hash *hash, uint8_t value[CONTENT_HASH_BYTES],
                         content_chain *chain);
void content_hash_close(content_hash *hash); /* NULL is allowed */

/* Reads the file at `path` from start to end. `*info` is what it was all the
 * while: one that changes meanwhile is KSV_ERROR_STALE. */
ksv_status datafile_content_hash(const ksv_file_system *fs, const char *path,
                                 const ksv_allocator *allocator,
                                 ksv_file_info *info,
                                 uint8_t value[CONTENT_HASH_BYTES],
                                 ksv_error *error);

#endif
