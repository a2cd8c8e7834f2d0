/* SPDX-License-Identifier: MIT */
/* The inside of a reader: the view that its cursors share, and newer ones. */
#ifndef KSV_BTREE_TREE_SHARED_H
#define KSV_BTREE_TREE_SHARED_H

#include "base/mutex.h"
#include "btree/tree_reader.h"
#include "btree/tree_view.h"

struct tree_reader {
    ksv_allocator allocator;
    tree_source source;
    uint8_t id[16];
    uint64_t least_txn_id;
    uint64_t generation;
    char *path;
    ksv_file *file;
    bool owns_file;
    mutex lock;         /* guards what follows, and counts of users */
    tree_view *current; /* counts as one user */
};

/* The current view, kept until it is released. */
tree_view *reader_acquire(tree_reader *reader);
void reader_release(tree_reader *reader, tree_view *view); /* NULL is allowed */

/* After a failure with `*view`: when there is a later transaction, `*view` is
 * released and the later one in its place, and `*renewed` says so. */
ksv_status reader_renew(tree_reader *reader, tree_view **view, bool *renewed,
                        uint64_t *bytes_read, ksv_error *error);

#endif
