/* SPDX-License-Identifier: MIT */
/* A block of entries, the value of a record of the tree, as it is opened. */
#ifndef KSV_BTREE_TREE_BLOCK_H
#define KSV_BTREE_TREE_BLOCK_H

#include <keysieve/memory.h>

#include "btree/tree_bound.h"

/* Offsets in a block. */
#define TREE_BLOCK_CHECKSUM 0
#define TREE_BLOCK_TAG 8
#define TREE_BLOCK_TXN_ID 16
#define TREE_BLOCK_KEYS 24
#define TREE_BLOCK_ENTRIES_END 28
#define TREE_BLOCK_FLAGS 32
#define TREE_BLOCK_HEADER_BYTES 40

#define TREE_BLOCK_HAS_HIGH 1

/* The key of each so many entries stands without the help of the one before. */
#define TREE_RESTART_KEYS 16

/* Entries from `low` on, up to the high bound: what is asked for lies within
 * these when the block is the right one. All point into the block's bytes. */
typedef struct tree_block {
    const uint8_t *data;
    size_t size_bytes;
    uint64_t txn_id; /* that wrote it */
    uint32_t keys;   /* different ones */
    tree_bound low;
    bool has_high; /* false: there is no block behind it */
    size_t
        high_shared; /* bytes of the high key that are those of the low one */
    tree_key high_rest;
    tree_place high_place;
    size_t entries_offset;
    size_t entries_end;
    size_t restarts_offset;
} tree_block;

/* The tag of the blocks of a tree. */
uint64_t tree_block_tag(const uint8_t id[16]);

/* Puts the id of the transaction that writes the block into it, and the
 * checksum of all. */
void tree_block_seal(uint8_t *data, size_t size_bytes, uint64_t txn_id);

/* Checks all but the entries. NULL, or what is wrong with the bytes. */
const char *tree_block_open(tree_block *block, const uint8_t *data,
                            size_t size_bytes, uint64_t tag);

/* Whether an entry at the bound would be in this block. */
bool tree_block_covers(const tree_block *block, const tree_bound *bound);

/* Compares the high bound, which it has, with `bound`. */
int tree_block_compare_high(const tree_block *block, const tree_bound *bound);

/* Where entry number `restart` * TREE_RESTART_KEYS begins. */
size_t tree_block_restart(const tree_block *block, uint32_t restart);
uint32_t tree_block_restarts(uint32_t keys);

#endif
