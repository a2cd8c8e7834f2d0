/* SPDX-License-Identifier: MIT */
/* The records of a tree's environment: their keys, and what its head says. */
#ifndef KSV_BTREE_TREE_RECORD_H
#define KSV_BTREE_TREE_RECORD_H

#include "base/memory.h"
#include "btree/tree_bound.h"
#include "mdb/lmdb_order.h"

/* LMDB_ORDER_TIED. One record for each block: 'B', the beginning of the key of
 * its low bound, and a tie that puts blocks in order of which these are equal.
 * One, the last, for the head: 'H' and a tie of 0. */
#define TREE_RECORD_BLOCK 'B'
#define TREE_RECORD_HEAD 'H'

#define TREE_TEXT_BYTES_MOST 480

/* Ties are given in the middle and some way apart, so that others fit between
 * and before them. */
#define TREE_TIE_FIRST ((uint64_t)1 << 62)
#define TREE_TIE_STEP ((uint64_t)1 << 32)

typedef struct tree_record_key {
    uint8_t bytes[1 + TREE_TEXT_BYTES_MOST + LMDB_TIE_BYTES];
    size_t size_bytes;
} tree_record_key;

tree_record_key tree_record_block(tree_key low, uint64_t tie);
tree_record_key tree_record_head(void);

uint64_t tree_record_tie(const uint8_t *key, size_t key_bytes);
/* Whether `key` is a block's record with the text that `low` has. */
bool tree_record_has_text(const uint8_t *key, size_t key_bytes, tree_key low);

/* Both are keys of blocks' records. */
bool tree_record_same_text(const tree_record_key *a, const tree_record_key *b);
void tree_record_set_tie(tree_record_key *key, uint64_t tie);

/* What the record of the head holds. `parts` are by number. */
typedef struct tree_head {
    const ksv_allocator *allocator; /* borrowed */
    uint8_t id[16];
    uint64_t txn_id; /* every transaction writes the head anew */
    uint64_t next_part;
    uint64_t least_generation;
    uint64_t entries;
    uint64_t blocks;
    tree_part *parts;
    size_t part_count;
    size_t part_capacity;
} tree_head;

void tree_head_init(tree_head *head, const ksv_allocator *allocator);
void tree_head_release(tree_head *head);

/* Adds to the entries of a part, which is made or goes when need be, and to
 * those of all. */
ksv_status tree_head_count(tree_head *head, uint64_t part, int64_t entries,
                           ksv_error *error);

ksv_status tree_head_encode(const tree_head *head, byte_buffer *out,
                            ksv_error *error);

/* `head` is initialised and has no parts. KSV_ERROR_CORRUPT or
 * KSV_ERROR_VERSION, without a path. */
ksv_status tree_head_decode(tree_head *head, const uint8_t *data,
                            size_t size_bytes, ksv_error *error);

#endif
