/* SPDX-License-Identifier: MIT */
/* Finds the block that an entry would be in, and reads it. */
#include "btree/tree_locate.h"

#include "base/error.h"
#include "btree/tree_search.h"

void tree_located_init(tree_located *l, const ksv_allocator *allocator)
{
    memset(l, 0, sizeof *l);
    tree_path_init(&l->path, allocator);
    buffer_init(&l->buffer, allocator);
}

void tree_located_release(tree_located *l)
{
    tree_path_release(&l->path);
    buffer_release(&l->buffer);
}

/* Whether the record is that of this block, as far as the record tells. */
static bool is_record_of(const lmdb_node *node, const tree_block *block)
{
    return tree_record_has_text(node->key, node->key_bytes, block->low.key);
}

/* Reads the block of the record that the path is at. */
static ksv_status load(tree_located *l, ksv_error *error)
{
    lmdb_node node;
    tree_view *view = l->path.view;
    const lmdb_page *leaf = tree_path_node(&l->path, &node);
    const uint8_t *value;
    if (node.key_bytes < 1 + LMDB_TIE_BYTES ||
        node.key[0] != TREE_RECORD_BLOCK || !lmdb_node_is_big(&node))
        return tree_view_damage(view, leaf->number,
                                "has no block where one has to be", error);
    uint64_t page = lmdb_load_word(node.value);
    if (l->view == view && l->page == page)
        return is_record_of(&node, &l->block)
                   ? KSV_OK
                   : tree_view_damage(view, leaf->number,
                                      "names one block twice", error);
    l->view = NULL;
    KSV_TRY(tree_view_value(view, leaf, &node, &l->buffer, &value,
                            &l->path.bytes_read, error));
    l->blocks_read++;
    const char *wrong =
        tree_block_open(&l->block, value, node.value_bytes, view->tag);
    if (wrong == NULL && l->block.txn_id > view->lmdb.txn_id)
        wrong = "has a block of a later commit";
    if (wrong == NULL && !is_record_of(&node, &l->block))
        wrong = "has a block under a wrong record";
    if (wrong != NULL)
        return tree_view_damage(view, page, wrong, error);
    l->view = view;
    l->page = page;
    return KSV_OK;
}

static ksv_status no_block(tree_located *l, tree_view *view, ksv_error *error)
{
    l->view = NULL;
    return tree_view_damage(view, view->lmdb.newest.main.root,
                            "lacks the block of a key", error);
}

/* A tree_seek_fn. */
static ksv_status seek(void *ctx, const tree_record_key *key,
                       const tree_block **block, uint64_t *tie,
                       ksv_error *error)
{
    tree_located *l = ctx;
    tree_view *view = l->path.view;
    lmdb_node node;
    bool found;
    KSV_TRY(tree_path_seek(&l->path, view, key, false, &found, error));
    if (!found)
        return KSV_OK;
    KSV_TRY(load(l, error));
    tree_path_node(&l->path, &node);
    *tie = tree_record_tie(node.key, node.key_bytes);
    *block = &l->block;
    return KSV_OK;
}

ksv_status tree_locate(tree_located *l, tree_view *view,
                       const tree_bound *bound, ksv_error *error)
{
    bool found;
    l->path.view = view;
    KSV_TRY(tree_search(bound, seek, l, &found, error));
    return found ? KSV_OK : no_block(l, view, error);
}

ksv_status tree_locate_last(tree_located *l, tree_view *view, ksv_error *error)
{
    bool found;
    tree_record_key key = tree_record_head();
    KSV_TRY(tree_path_seek(&l->path, view, &key, true, &found, error));
    if (!found)
        return no_block(l, view, error);
    KSV_TRY(load(l, error));
    return l->block.has_high ? no_block(l, view, error) : KSV_OK;
}

ksv_status tree_locate_previous(tree_located *l, bool *found, ksv_error *error)
{
    tree_view *view = l->path.view;
    static const tree_bound first;
    tree_bound low = l->block.low;
    *found = tree_bound_compare(&low, &first) != 0;
    if (!*found)
        return KSV_OK;
    byte_buffer key;
    buffer_init(&key, l->buffer.allocator);
    ksv_status status =
        buffer_append(&key, low.key.data, low.key.size_bytes, error);
    low.key.data = key.data;
    bool is_there = false;
    if (status == KSV_OK)
        status = tree_path_previous(&l->path, &is_there, error);
    if (status == KSV_OK)
        status = is_there ? load(l, error) : no_block(l, view, error);
    if (status == KSV_OK &&
        (!l->block.has_high || tree_block_compare_high(&l->block, &low) != 0))
        status = no_block(l, view, error);
    buffer_release(&key);
    return status;
}
