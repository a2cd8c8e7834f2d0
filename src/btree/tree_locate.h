/* SPDX-License-Identifier: MIT */
/* Finds the block that an entry would be in, and reads it. */
#ifndef KSV_BTREE_TREE_LOCATE_H
#define KSV_BTREE_TREE_LOCATE_H

#include "btree/tree_block.h"
#include "btree/tree_path.h"

/* A block that was read, and the way to it. One thread at a time. */
typedef struct tree_located {
    tree_path path;
    const tree_view *view; /* of the block; NULL: there is none */
    uint64_t page;         /* where it begins */
    byte_buffer buffer;
    tree_block block;
    uint64_t blocks_read;
} tree_located;

void tree_located_init(tree_located *l, const ksv_allocator *allocator);
void tree_located_release(tree_located *l);

/* Goes to the block that covers `bound`, which is not in the block it is at.
 * That is read again only if need be. Failures leave it without a block; any of
 * them may come of a later transaction. */
ksv_status tree_locate(tree_located *l, tree_view *view,
                       const tree_bound *bound, ksv_error *error);
ksv_status tree_locate_last(tree_located *l, tree_view *view, ksv_error *error);
/* The block before the one it is at; `*found` false: that is the first. */
ksv_status tree_locate_previous(tree_located *l, bool *found, ksv_error *error);

#endif
