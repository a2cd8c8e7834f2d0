/* SPDX-License-Identifier: MIT */
/* The tree as one transaction left it, read page by page with plain reads. */
#ifndef KSV_BTREE_TREE_VIEW_H
#define KSV_BTREE_TREE_VIEW_H

#include <stdatomic.h>

#include <keysieve/io.h>

#include "btree/tree_record.h"
#include "mdb/lmdb_walker.h"

/* What is wanted of a tree. */
typedef struct tree_source {
    ksv_file *file;   /* borrowed, as all of this */
    const char *path; /* for errors */
    const ksv_allocator *allocator;
    const uint8_t *id; /* NULL: any tree */
    /* Pages that are not in use are told from others: what leads to one is
     * damage. Not needed where all of the tree was checked before. */
    bool knows_unused;
} tree_source;

/* Threads share it. Pages above the blocks are kept once they were read.
 *
 * While it is used, a writer may use pages again that this transaction had in
 * use (two transactions later at the earliest). Every page that is read shows
 * by itself that it is what it should be; the txn_id of blocks tells later ones
 * from those of this transaction. So all failures may come of a later
 * transaction: tree_view_is_last() tells. */
typedef struct tree_view {
    tree_source source;
    lmdb_head lmdb;
    size_t page_bytes;
    uint64_t file_bytes;
    uint64_t file_pages;
    uint64_t tag;
    lmdb_page_set unused;
    tree_head head;
    _Atomic(uint8_t *) *kept; /* pages by a hash of their number */
    size_t kept_slots;
    size_t users; /* of those who share it */
} tree_view;

/* Takes the last transaction there is. KSV_ERROR_CORRUPT, KSV_ERROR_VERSION. */
ksv_status tree_view_open(const tree_source *source, tree_view **out,
                          uint64_t *bytes_read, ksv_error *error);
void tree_view_close(tree_view *view); /* NULL is allowed */

/* Whether no later transaction has ended since. */
ksv_status tree_view_is_last(const tree_view *view, bool *is_last,
                             ksv_error *error);

void tree_view_get_info(const tree_view *view, tree_info *info);

/* KSV_ERROR_CORRUPT about a page of the file. */
ksv_status tree_view_damage(const tree_view *view, uint64_t page,
                            const char *what, ksv_error *error);

/* Reads and checks a page above the blocks. `*out` is in memory that is kept,
 * or in `own`, which has room for a page. */
ksv_status tree_view_page(tree_view *view, uint64_t number, bool is_leaf,
                          uint8_t *own, lmdb_page *out, uint64_t *bytes_read,
                          ksv_error *error);

/* Reads the value of a leaf's node into `buffer`, which it replaces; `*value`
 * is in there or in the page. */
ksv_status tree_view_value(const tree_view *view, const lmdb_page *leaf,
                           const lmdb_node *node, byte_buffer *buffer,
                           const uint8_t **value, uint64_t *bytes_read,
                           ksv_error *error);

/* Checks that a value which has pages of its own begins as LMDB expects it. */
ksv_status tree_view_check_value(const tree_view *view, const lmdb_page *leaf,
                                 const lmdb_node *node, ksv_error *error);

#endif
