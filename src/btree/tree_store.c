/* SPDX-License-Identifier: MIT */
/* Write transactions on a tree's environment, none of which gets long. */
#include "btree/tree_store.h"

#include "base/error.h"

/* LMDB keeps what a transaction has changed in memory until it ends. */
#define TXN_BYTES ((uint64_t)8 << 20)
/* What a transaction may write beside the values that are put: pages above them
 * and lists of free pages. */
#define SPARE_BYTES ((uint64_t)64 << 20)

ksv_status tree_store_open(tree_store *store, const char *path,
                           uint64_t file_bytes, bool skips_syncs,
                           const ksv_allocator *allocator, ksv_error *error)
{
    memset(store, 0, sizeof *store);
    buffer_init(&store->value, allocator);
    lmdb_store_options options = {
        .path = path,
        .doing = "cannot write the tree of keys",
        .map_bytes = lmdb_map_bytes(file_bytes + SPARE_BYTES + 2 * TXN_BYTES),
        .skips_syncs = skips_syncs,
        .order = LMDB_ORDER_TIED};
    KSV_TRY(lmdb_store_open(&store->lmdb, &options, error));
    store->page_bytes = lmdb_store_page_bytes(&store->lmdb);
    return KSV_OK;
}

void tree_store_close(tree_store *store)
{
    lmdb_store_close(&store->lmdb);
    buffer_release(&store->value);
    store->txn_id = 0;
}

ksv_status tree_store_begin(tree_store *store, uint64_t bytes, ksv_error *error)
{
    if (store->txn_id != 0)
        return KSV_OK;
    uint64_t used = lmdb_store_used_bytes(&store->lmdb);
    uint64_t wanted = used + 2 * bytes + SPARE_BYTES + 2 * TXN_BYTES;
    /* Growing by a part of what there is makes it seldom. */
    if (wanted > store->lmdb.options.map_bytes)
        KSV_TRY(lmdb_store_resize(&store->lmdb,
                                  lmdb_map_bytes(wanted + used / 2), error));
    KSV_TRY(lmdb_store_begin(&store->lmdb, error));
    store->txn_id = lmdb_store_txn_id(&store->lmdb);
    store->dirty_bytes = 0;
    return KSV_OK;
}

bool tree_store_is_long(const tree_store *store, uint64_t bytes)
{
    return store->dirty_bytes > 0 && store->dirty_bytes + bytes > TXN_BYTES;
}

ksv_status tree_store_put(tree_store *store, const tree_record_key *key,
                          const uint8_t *value, size_t size_bytes, bool append,
                          ksv_error *error)
{
    lmdb_bytes k = {key->bytes, key->size_bytes};
    lmdb_bytes v = {value, size_bytes};
    store->dirty_bytes += size_bytes + store->page_bytes;
    return lmdb_store_put(&store->lmdb, k, v, append, error);
}

ksv_status tree_store_commit(tree_store *store, tree_head *head, bool append,
                             ksv_error *error)
{
    tree_record_key key = tree_record_head();
    head->txn_id = store->txn_id;
    KSV_TRY(tree_head_encode(head, &store->value, error));
    KSV_TRY(tree_store_put(store, &key, store->value.data, store->value.size,
                           append, error));
    store->txn_id = 0;
    return lmdb_store_commit(&store->lmdb, error);
}
