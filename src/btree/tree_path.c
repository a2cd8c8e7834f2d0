/* SPDX-License-Identifier: MIT */
/* The way from the root of a tree to a record. */
#include "btree/tree_path.h"

#include "base/error.h"

void tree_path_init(tree_path *path, const ksv_allocator *allocator)
{
    memset(path, 0, sizeof *path);
    path->allocator = allocator;
}

void tree_path_release(tree_path *path)
{
    for (unsigned i = 0; i < LMDB_DEPTH_MOST; i++) {
        memory_free(path->allocator, path->levels[i].own, path->page_bytes);
        path->levels[i].own = NULL;
    }
}

static ksv_status prepare(tree_path *path, tree_view *view, ksv_error *error)
{
    const lmdb_tree *tree = &view->lmdb.newest.main;
    path->depth = 0;
    path->view = view;
    if (path->page_bytes != view->page_bytes)
        tree_path_release(path);
    path->page_bytes = view->page_bytes;
    for (unsigned i = 0; i < tree->depth; i++) {
        tree_level *level = &path->levels[i];
        if (level->own == NULL)
            level->own = memory_alloc(path->allocator, path->page_bytes);
        if (level->own == NULL)
            return error_set_memory(error);
    }
    return KSV_OK;
}

static ksv_status open_level(tree_path *path, unsigned i, uint64_t number,
                             ksv_error *error)
{
    tree_level *level = &path->levels[i];
    bool is_leaf = i + 1 == path->view->lmdb.newest.main.depth;
    return tree_view_page(path->view, number, is_leaf, level->own, &level->page,
                          &path->bytes_read, error);
}

static uint64_t child_of(const tree_level *level)
{
    lmdb_node node;
    lmdb_page_node(&level->page, level->at, &node);
    return node.child;
}

/* How many nodes from `first` on are not behind the key (come before it). */
static unsigned count_nodes(const lmdb_page *page, unsigned first,
                            const tree_record_key *key, bool before)
{
    unsigned low = first;
    unsigned high = page->nodes;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        lmdb_node node;
        lmdb_page_node(page, middle, &node);
        int order = lmdb_compare(LMDB_ORDER_TIED, node.key, node.key_bytes,
                                 key->bytes, key->size_bytes);
        if (before ? order < 0 : order <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From level `i` on to the last record below. */
static ksv_status go_down_last(tree_path *path, unsigned i, ksv_error *error)
{
    unsigned depth = path->view->lmdb.newest.main.depth;
    for (; i + 1 < depth; i++) {
        KSV_TRY(open_level(path, i + 1, child_of(&path->levels[i]), error));
        path->levels[i + 1].at = path->levels[i + 1].page.nodes - 1;
    }
    path->depth = depth;
    return KSV_OK;
}

/* The last record of what comes before the node of level `i` - 1 or above. */
static ksv_status step_back(tree_path *path, unsigned i, bool *found,
                            ksv_error *error)
{
    *found = false;
    path->depth = 0;
    while (i > 0 && path->levels[i - 1].at == 0)
        i--;
    if (i == 0)
        return KSV_OK;
    path->levels[i - 1].at--;
    *found = true;
    return go_down_last(path, i - 1, error);
}

ksv_status tree_path_seek(tree_path *path, tree_view *view,
                          const tree_record_key *key, bool before, bool *found,
                          ksv_error *error)
{
    const lmdb_tree *tree = &view->lmdb.newest.main;
    uint64_t number = tree->root;
    KSV_TRY(prepare(path, view, error));
    for (unsigned i = 0; i < tree->depth; i++) {
        tree_level *level = &path->levels[i];
        KSV_TRY(open_level(path, i, number, error));
        /* The first key of a branch stands for all before the second. */
        unsigned count =
            count_nodes(&level->page, i + 1 < tree->depth, key, before);
        /* The lowest key of a leaf may be above what its branch says. */
        if (count == 0)
            return step_back(path, i, found, error);
        level->at = count - 1;
        number = child_of(level);
    }
    path->depth = tree->depth;
    *found = true;
    return KSV_OK;
}

ksv_status tree_path_previous(tree_path *path, bool *found, ksv_error *error)
{
    return step_back(path, path->depth, found, error);
}

const lmdb_page *tree_path_node(const tree_path *path, lmdb_node *node)
{
    const tree_level *level = &path->levels[path->depth - 1];
    lmdb_page_node(&level->page, level->at, node);
    return &level->page;
}
