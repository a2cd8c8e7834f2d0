/* SPDX-License-Identifier: MIT */
/* A block of a sorted table that was read: its entries. */
#ifndef KSV_SORTED_BLOCK_H
#define KSV_SORTED_BLOCK_H

#include "base/coding.h"
#include "base/memory.h"
#include "compress/inflate.h"
#include "sorted/sorted_format.h"

/* So many bytes behind a block have to be readable; their values do not matter.
 */
#define BLOCK_READ_PADDING INFLATE_INPUT_PADDING

/* Borrows the bytes that it was opened from and `raw`. All zero: none. */
typedef struct sorted_block {
    block_place place;
    block_header header;
    const uint8_t *keys;
    size_t keys_bytes;
    const uint8_t *restarts;
    size_t restart_count;
    size_t restart_bytes;
    const uint8_t *tail;
    size_t tail_bytes;
} sorted_block;

/* Opens the block of `place` and level `level`, whose bytes are at `bytes`.
 * Keys that are deflated are inflated to `raw`, which grows. Everything but the
 * entries was checked. */
ksv_status block_open(sorted_block *block, const uint8_t *bytes,
                      const block_place *place, uint64_t tag, unsigned level,
                      inflater *decoder, byte_buffer *raw, ksv_error *error);

/* Payload of an entry of a block of data. */
static inline uint64_t block_payload(const sorted_block *block, uint32_t entry)
{
    unsigned bits = block->header.payload_bits;
    uint64_t at = (uint64_t)entry * bits;
    uint64_t word = load_u64(block->tail + at / 8) >> (at % 8);
    return block->header.base + (word & ((UINT64_C(1) << bits) - 1));
}

/* Where in the keys restart number `restart`, up to their count, is said to be.
 */
size_t block_restart_at(const sorted_block *block, size_t restart);

/* At an entry of a block, whose key it has. The block stays where it is. */
typedef struct block_walker {
    const sorted_block *block;
    byte_buffer key;
    uint32_t entry; /* that the key is of; entries of the block: none */
    size_t next;    /* in the keys, behind it */
} block_walker;

void block_walker_init(block_walker *walker, const ksv_allocator *allocator);
void block_walker_release(block_walker *walker);

/* Goes to no entry of a block, or of none. */
void block_walker_set(block_walker *walker, const sorted_block *block);

static inline bool block_walker_is_at_entry(const block_walker *walker)
{
    return walker->block != NULL &&
           walker->entry < walker->block->header.entries;
}

/* Goes to entry number `entry`; at or above their number: to none. */
ksv_status block_walker_go(block_walker *walker, uint32_t entry,
                           ksv_error *error);
/* Goes from an entry to the next one, or to none. */
ksv_status block_walker_next(block_walker *walker, ksv_error *error);
/* Goes to the first entry whose key is `key` or comes after it, or to none. */
ksv_status block_walker_seek(block_walker *walker, sorted_key key,
                             ksv_error *error);

/* An empty key, too, has an address. */
static inline sorted_key block_walker_key(const block_walker *walker)
{
    static const uint8_t none[1];
    return (sorted_key){walker->key.size > 0 ? walker->key.data : none,
                        walker->key.size};
}

/* Below, at or above 0 as the walker's key comes before, is or comes after. */
int block_walker_compare(const block_walker *walker, sorted_key key);

#endif
