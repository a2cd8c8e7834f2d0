/* SPDX-License-Identifier: MIT */
/* The tree that is written: its open transaction beside the last commit. */
#ifndef KSV_BTREE_TREE_TARGET_H
#define KSV_BTREE_TREE_TARGET_H

#include "btree/tree_block.h"
#include "btree/tree_path.h"
#include "btree/tree_store.h"

typedef struct tree_target {
    const ksv_allocator *allocator; /* borrowed */
    tree_source source;
    tree_view *view; /* the last commit, of which all pages above the blocks
                        were checked */
    tree_store store;
    tree_head head; /* as it will be */
    uint64_t tag;
    tree_path path;
} tree_target;

/* Checks the pages above the blocks of `source` and opens it. A target that is
 * all zero can be closed. */
ksv_status tree_target_open(tree_target *t, const tree_source *source,
                            const ksv_allocator *allocator, ksv_error *error);
void tree_target_close(tree_target *t);

/* Begins a transaction unless one is open, with room for `bytes`; one that
 * would become too long with them is committed before. */
ksv_status tree_target_begin(tree_target *t, uint64_t bytes, ksv_error *error);
/* Ends the transaction, if one is open. */
ksv_status tree_target_commit(tree_target *t, ksv_error *error);

/* In a transaction: finds the block that covers `bound`, with its record. The
 * block is checked, and valid until the next change. */
ksv_status tree_target_locate(tree_target *t, const tree_bound *bound,
                              tree_block *block, tree_record_key *record,
                              ksv_error *error);

/* Takes out a block that was located, or puts one in its place when it has the
 * same size, or puts in a new one. */
ksv_status tree_target_erase(tree_target *t, const tree_record_key *record,
                             ksv_error *error);
ksv_status tree_target_put(tree_target *t, const tree_record_key *record,
                           uint8_t *block, size_t size_bytes, ksv_error *error);

/* Whether LMDB can give the pages of this block back, which it does by what
 * their head says. */
ksv_status tree_target_check(tree_target *t, const tree_record_key *record,
                             const tree_block *block, ksv_error *error);

#endif
