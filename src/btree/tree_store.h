/* SPDX-License-Identifier: MIT */
/* Write transactions on a tree's environment, none of which gets long. */
#ifndef KSV_BTREE_TREE_STORE_H
#define KSV_BTREE_TREE_STORE_H

#include "btree/tree_record.h"
#include "mdb/lmdb_store.h"

typedef struct tree_store {
    lmdb_store lmdb;
    size_t page_bytes;
    uint64_t txn_id;      /* of the open transaction; 0: there is none */
    uint64_t dirty_bytes; /* put in it */
    byte_buffer value;    /* the head, as it is written */
} tree_store;

/* `file_bytes`: the size of the environment there is. */
ksv_status tree_store_open(tree_store *store, const char *path,
                           uint64_t file_bytes, bool skips_syncs,
                           const ksv_allocator *allocator, ksv_error *error);
void tree_store_close(tree_store *store);

/* Begins a transaction with room for `bytes` more than is usual, unless one is
 * open. */
ksv_status tree_store_begin(tree_store *store, uint64_t bytes,
                            ksv_error *error);

/* Whether so much was put that the transaction should end, or has to before
 * `bytes` more are put. */
bool tree_store_is_long(const tree_store *store, uint64_t bytes);

ksv_status tree_store_put(tree_store *store, const tree_record_key *key,
                          const uint8_t *value, size_t size_bytes, bool append,
                          ksv_error *error);

/* Writes the head, with the id of the transaction, and commits. */
ksv_status tree_store_commit(tree_store *store, tree_head *head, bool append,
                             ksv_error *error);

#endif
