/* SPDX-License-Identifier: MIT */
/* Which of the blocks with equal beginnings of keys covers an entry. */
#ifndef KSV_BTREE_TREE_SEARCH_H
#define KSV_BTREE_TREE_SEARCH_H

#include "btree/tree_block.h"
#include "btree/tree_record.h"

/* Goes to the last record that is not behind `key`; gives its block, valid
 * until the next call, and its tie. NULL: there is none. */
typedef ksv_status (*tree_seek_fn)(void *ctx, const tree_record_key *key,
                                   const tree_block **block, uint64_t *tie,
                                   ksv_error *error);

/* Goes to the block that covers `bound`. `*found` false: there is none, which
 * is damage. */
ksv_status tree_search(const tree_bound *bound, tree_seek_fn seek, void *ctx,
                       bool *found, ksv_error *error);

#endif
