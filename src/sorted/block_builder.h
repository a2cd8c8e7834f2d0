/* SPDX-License-Identifier: MIT */
/* Puts entries together to a block of a sorted table. */
#ifndef KSV_SORTED_BLOCK_BUILDER_H
#define KSV_SORTED_BLOCK_BUILDER_H

#include "base/memory.h"
#include "compress/zlib_bridge.h"
#include "sorted/sorted_format.h"

/* Entries of one block of data, or of index. One thread at a time. */
typedef struct block_builder {
    const ksv_allocator *allocator; /* borrowed */
    byte_buffer keys;
    byte_buffer last; /* key */
    uint32_t *restarts;
    size_t restart_capacity;
    uint64_t *payloads; /* of a block of data */
    size_t payload_capacity;
    byte_buffer places; /* of an index block */
    uint32_t entries;
    block_place last_place; /* likewise */
} block_builder;

void block_builder_init(block_builder *builder, const ksv_allocator *allocator);
void block_builder_release(block_builder *builder);
/* Takes all entries out; keeps the memory. */
void block_builder_clear(block_builder *builder);

/* Bytes of the block, without its header and before deflating, if `key` came
 * next: at most. `payload_bits` 0: it is an index block. */
size_t block_builder_size_with(const block_builder *builder, sorted_key key,
                               unsigned payload_bits);

/* Adds an entry to a block of data. Keys come in order. */
ksv_status block_builder_add(block_builder *builder, sorted_key key,
                             uint64_t payload, ksv_error *error);
/* Adds what an index block leads to: a block before which there is no key from
 * `key` on; `continues`: its first key is `key`, and began in a block before.
 */
ksv_status block_builder_add_place(block_builder *builder, sorted_key key,
                                   bool continues, const block_place *place,
                                   ksv_error *error);

/* Leaves the first `entries` entries only, in `keys_bytes` bytes of keys; what
 * comes next begins with the last key there was. */
void block_builder_cut(block_builder *builder, uint32_t entries,
                       size_t keys_bytes);

/* Ends the block before it is sealed: appends the restarts to the keys. */
ksv_status block_builder_end(block_builder *builder, ksv_error *error);

/* Writes the block that was ended to `out` (cleared before), deflated when that
 * pays. `header` has number, tag, flags and level; all else is set. */
ksv_status block_builder_seal(block_builder *builder, block_header *header,
                              zlib_deflater *deflater, byte_buffer *out,
                              ksv_error *error);

#endif
