/* SPDX-License-Identifier: MIT */
/* The way from the root of a tree to a record. */
#ifndef KSV_BTREE_TREE_PATH_H
#define KSV_BTREE_TREE_PATH_H

#include "btree/tree_view.h"

typedef struct tree_level {
    uint8_t *own; /* room for a page that is not kept */
    lmdb_page page;
    unsigned at; /* the node gone by */
} tree_level;

/* One thread at a time. */
typedef struct tree_path {
    tree_view *view; /* borrowed */
    const ksv_allocator *allocator;
    size_t page_bytes;
    unsigned depth; /* 0: at no record */
    uint64_t bytes_read;
    tree_level levels[LMDB_DEPTH_MOST];
} tree_path;

void tree_path_init(tree_path *path, const ksv_allocator *allocator);
void tree_path_release(tree_path *path);

/* Goes to the last record of `view` whose key is not behind `key` (`before`:
 * comes before it). `*found` false: there is none. */
ksv_status tree_path_seek(tree_path *path, tree_view *view,
                          const tree_record_key *key, bool before, bool *found,
                          ksv_error *error);

/* The record before the one it is at. */
ksv_status tree_path_previous(tree_path *path, bool *found, ksv_error *error);

/* The record's page and node. */
const lmdb_page *tree_path_node(const tree_path *path, lmdb_node *node);

#endif
