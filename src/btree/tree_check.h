/* SPDX-License-Identifier: MIT */
/* Checks every byte of a tree that counts. */
#ifndef KSV_BTREE_TREE_CHECK_H
#define KSV_BTREE_TREE_CHECK_H

#include "btree/tree_reader.h"

/* Called for each entry in order; the key is borrowed for the call. A status
 * other than KSV_OK ends the walk and is returned. */
typedef ksv_status (*tree_visit_fn)(void *ctx, tree_key key, tree_place place,
                                    ksv_error *error);

/* Walks the tree that `reader` has open, with `visit` (may be NULL): all pages
 * of LMDB, that each belongs to one thing, all blocks, their order, that their
 * bounds meet, and the counts of entries of each part. `*bytes_checked` (may be
 * NULL) is added to. Beside a writer it begins anew at most a few times, and
 * entries may then be visited again: to be called without one. */
ksv_status tree_check(tree_reader *reader, tree_visit_fn visit, void *ctx,
                      uint64_t *bytes_checked, ksv_error *error);

#endif
