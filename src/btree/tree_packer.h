/* SPDX-License-Identifier: MIT */
/* Packs entries that come in order into blocks. */
#ifndef KSV_BTREE_TREE_PACKER_H
#define KSV_BTREE_TREE_PACKER_H

#include "base/memory.h"
#include "btree/tree_bound.h"

/* Takes a block, which is borrowed for the call and still to be sealed. */
typedef ksv_status (*tree_block_fn)(void *ctx, const tree_bound *low,
                                    uint8_t *block, size_t size_bytes,
                                    ksv_error *error);

typedef struct tree_packer {
    const ksv_allocator *allocator; /* borrowed */
    size_t page_bytes;              /* of LMDB */
    uint64_t tag;
    /* Bytes at which a block is full; those with one entry may be longer. */
    size_t full_bytes;
    size_t used_bytes; /* of the block that is emitted, without its padding */
    tree_block_fn emit;
    void *ctx;
    byte_buffer low_key;
    tree_place low_place;
    byte_buffer out; /* the block in the making, up to its last entry */
    byte_buffer restarts;
    size_t low_end; /* where its entries begin */
    uint32_t keys;
    size_t place_offset; /* of its last place */
    byte_buffer last_key;
    tree_place last_place;
    size_t last_shared; /* bytes the last key and the pending one share */
    bool has_pending;   /* an entry that waits for the one behind it */
    byte_buffer pending_key;
    tree_place pending_place;
} tree_packer;

/* What a block of one page may have, so that it fills that page. */
size_t tree_packer_page_room(size_t page_bytes);

void tree_packer_init(tree_packer *p, const ksv_allocator *allocator,
                      size_t page_bytes, uint64_t tag, tree_block_fn emit,
                      void *ctx);
void tree_packer_release(tree_packer *p);

/* The first block has the low bound `low`. */
ksv_status tree_packer_begin(tree_packer *p, const tree_bound *low,
                             ksv_error *error);

/* Entries come in ascending order. */
ksv_status tree_packer_add(tree_packer *p, const tree_bound *entry,
                           ksv_error *error);

/* The last block ends at `high`; NULL: there is none behind it. At least one
 * block is made, which may be empty. */
ksv_status tree_packer_end(tree_packer *p, const tree_bound *high,
                           ksv_error *error);

#endif
