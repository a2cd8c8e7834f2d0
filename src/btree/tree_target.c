/* SPDX-License-Identifier: MIT */
/* The tree that is written: its open transaction beside the last commit. */
#include "btree/tree_target.h"

#include "base/error.h"
#include "btree/tree_search.h"

static ksv_status damaged(const tree_target *t, const char *what,
                          ksv_error *error)
{
    error_set(error, KSV_ERROR_CORRUPT, t->source.path, "%s", what);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

/* LMDB trusts its pages, so they are gone through before it maps them. */
static ksv_status check_pages(const tree_target *t, ksv_error *error)
{
    const tree_source *s = &t->source;
    lmdb_head head;
    lmdb_walk_options options = {.order = LMDB_ORDER_TIED,
                                 .skips_values = true};
    KSV_TRY(lmdb_head_read(s->file, s->path, &head, error));
    return lmdb_walk(s->file, s->path, &head, t->allocator, &options, NULL,
                     error);
}

static ksv_status open_view(tree_target *t, ksv_error *error)
{
    uint64_t bytes = 0;
    tree_view_close(t->view);
    t->view = NULL;
    return tree_view_open(&t->source, &t->view, &bytes, error);
}

static ksv_status copy_head(tree_target *t, ksv_error *error)
{
    const tree_head *from = &t->view->head;
    memcpy(t->head.id, from->id, sizeof t->head.id);
    t->head.next_part = from->next_part;
    t->head.least_generation = from->least_generation;
    t->head.blocks = from->blocks;
    for (size_t i = 0; i < from->part_count; i++)
        KSV_TRY(tree_head_count(&t->head, from->parts[i].part,
                                (int64_t)from->parts[i].entries, error));
    return KSV_OK;
}

ksv_status tree_target_open(tree_target *t, const tree_source *source,
                            const ksv_allocator *allocator, ksv_error *error)
{
    *t = (tree_target){.allocator = allocator, .source = *source};
    t->source.knows_unused = false;
    tree_head_init(&t->head, allocator);
    tree_path_init(&t->path, allocator);
    KSV_TRY(check_pages(t, error));
    KSV_TRY(open_view(t, error));
    KSV_TRY(copy_head(t, error));
    t->tag = t->view->tag;
    KSV_TRY(tree_store_open(&t->store, source->path, t->view->file_bytes, false,
                            allocator, error));
    if (t->store.page_bytes != t->view->page_bytes)
        return damaged(t, "was changed by another program", error);
    return KSV_OK;
}

void tree_target_close(tree_target *t)
{
    if (t->allocator == NULL)
        return;
    tree_store_close(&t->store);
    tree_view_close(t->view);
    tree_path_release(&t->path);
    tree_head_release(&t->head);
    t->view = NULL;
    t->allocator = NULL;
}

ksv_status tree_target_commit(tree_target *t, ksv_error *error)
{
    if (t->store.txn_id == 0)
        return KSV_OK;
    KSV_TRY(tree_store_commit(&t->store, &t->head, false, error));
    KSV_TRY(open_view(t, error));
    return t->view->lmdb.txn_id == t->head.txn_id
               ? KSV_OK
               : damaged(t, "was changed by another program", error);
}

ksv_status tree_target_begin(tree_target *t, uint64_t bytes, ksv_error *error)
{
    if (tree_store_is_long(&t->store, bytes))
        KSV_TRY(tree_target_commit(t, error));
    KSV_TRY(tree_store_begin(&t->store, bytes, error));
    return t->store.txn_id == t->view->lmdb.txn_id + 1
               ? KSV_OK
               : damaged(t, "was changed by another program", error);
}

/* A search for the block in the open transaction. */
typedef struct target_search {
    tree_target *target;
    tree_block *block;
    tree_record_key *record;
} target_search;

static ksv_status take_block(target_search *s, const lmdb_bytes *key,
                             const lmdb_bytes *value, ksv_error *error)
{
    const uint8_t *k = key->data;
    if (key->size_bytes > sizeof s->record->bytes || k[0] != TREE_RECORD_BLOCK)
        return damaged(s->target, "lacks the block of a key", error);
    const char *wrong = tree_block_open(s->block, value->data,
                                        value->size_bytes, s->target->tag);
    if (wrong == NULL && s->block->txn_id > s->target->store.txn_id)
        wrong = "has a block of a later commit";
    if (wrong == NULL &&
        !tree_record_has_text(k, key->size_bytes, s->block->low.key))
        wrong = "has a block under a wrong record";
    if (wrong != NULL)
        return damaged(s->target, wrong, error);
    memcpy(s->record->bytes, k, key->size_bytes);
    s->record->size_bytes = key->size_bytes;
    return KSV_OK;
}

/* A tree_seek_fn. The head is behind all blocks, so that something always is.
 */
static ksv_status seek(void *ctx, const tree_record_key *key,
                       const tree_block **block, uint64_t *tie,
                       ksv_error *error)
{
    target_search *s = ctx;
    lmdb_store *store = &s->target->store.lmdb;
    lmdb_bytes k = {key->bytes, key->size_bytes};
    lmdb_bytes value;
    bool found;
    KSV_TRY(
        lmdb_store_move(store, LMDB_MOVE_AT_LEAST, &k, &value, &found, error));
    if (found && lmdb_compare(LMDB_ORDER_TIED, k.data, k.size_bytes, key->bytes,
                              key->size_bytes) != 0)
        KSV_TRY(lmdb_store_move(store, LMDB_MOVE_PREVIOUS, &k, &value, &found,
                                error));
    if (!found)
        return KSV_OK;
    KSV_TRY(take_block(s, &k, &value, error));
    *tie = tree_record_tie(s->record->bytes, s->record->size_bytes);
    *block = s->block;
    return KSV_OK;
}

ksv_status tree_target_locate(tree_target *t, const tree_bound *bound,
                              tree_block *block, tree_record_key *record,
                              ksv_error *error)
{
    bool found;
    target_search s = {t, block, record};
    KSV_TRY(tree_search(bound, seek, &s, &found, error));
    return found ? KSV_OK : damaged(t, "lacks the block of a key", error);
}

ksv_status tree_target_check(tree_target *t, const tree_record_key *record,
                             const tree_block *block, ksv_error *error)
{
    lmdb_node node;
    bool found;
    /* What this transaction has written is not on the disk yet. */
    if (block->txn_id == t->store.txn_id)
        return KSV_OK;
    KSV_TRY(tree_path_seek(&t->path, t->view, record, false, &found, error));
    if (!found)
        return damaged(t, "lacks the block of a key", error);
    const lmdb_page *leaf = tree_path_node(&t->path, &node);
    if (lmdb_compare(LMDB_ORDER_TIED, node.key, node.key_bytes, record->bytes,
                     record->size_bytes) != 0)
        return damaged(t, "lacks the block of a key", error);
    return tree_view_check_value(t->view, leaf, &node, error);
}

ksv_status tree_target_erase(tree_target *t, const tree_record_key *record,
                             ksv_error *error)
{
    lmdb_bytes k = {record->bytes, record->size_bytes};
    lmdb_bytes value;
    bool found;
    KSV_TRY(lmdb_store_move(&t->store.lmdb, LMDB_MOVE_AT_LEAST, &k, &value,
                            &found, error));
    if (!found || lmdb_compare(LMDB_ORDER_TIED, k.data, k.size_bytes,
                               record->bytes, record->size_bytes) != 0)
        return damaged(t, "lacks the block of a key", error);
    t->store.dirty_bytes += t->store.page_bytes;
    return lmdb_store_delete(&t->store.lmdb, error);
}

ksv_status tree_target_put(tree_target *t, const tree_record_key *record,
                           uint8_t *block, size_t size_bytes, ksv_error *error)
{
    tree_block_seal(block, size_bytes, t->store.txn_id);
    return tree_store_put(&t->store, record, block, size_bytes, false, error);
}
