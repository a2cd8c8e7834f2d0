/* SPDX-License-Identifier: MIT */
/* Goes over the entries of one block, in both directions. */
#ifndef KSV_BTREE_TREE_ENTRIES_H
#define KSV_BTREE_TREE_ENTRIES_H

#include "base/memory.h"
#include "btree/tree_block.h"

/* At the entry (key, places[at]) of a block. The places are all those that the
 * key has in this block. Errors are KSV_ERROR_CORRUPT without a path, or
 * KSV_ERROR_MEMORY; the block has to be opened anew or left alone then. */
typedef struct tree_entries {
    const ksv_allocator *allocator; /* borrowed */
    const tree_block *block;        /* borrowed; NULL: at no entry */
    byte_buffer key;
    tree_place *places;
    size_t place_count;
    size_t place_capacity;
    size_t at;
    uint32_t number;    /* of the key in the block */
    size_t next_offset; /* where the next key begins */
} tree_entries;

void tree_entries_init(tree_entries *e, const ksv_allocator *allocator);
void tree_entries_release(tree_entries *e);

/* Each goes to an entry of `block`; `*found` false: there is none. */
ksv_status tree_entries_first(tree_entries *e, const tree_block *block,
                              bool *found, ksv_error *error);
ksv_status tree_entries_last(tree_entries *e, const tree_block *block,
                             bool *found, ksv_error *error);
/* The first one that is not before the bound. */
ksv_status tree_entries_seek(tree_entries *e, const tree_block *block,
                             const tree_bound *bound, bool *found,
                             ksv_error *error);
/* Neighbours of the entry that it is at, which is left when there is none. */
ksv_status tree_entries_next(tree_entries *e, bool *found, ksv_error *error);
ksv_status tree_entries_previous(tree_entries *e, bool *found,
                                 ksv_error *error);
/* The first entry of the next key. */
ksv_status tree_entries_next_key(tree_entries *e, bool *found,
                                 ksv_error *error);

/* Whether the restart of the key that it is at, which has one, leads to it. */
ksv_status tree_entries_check_restart(tree_entries *e, bool *is_right,
                                      ksv_error *error);

static inline tree_bound tree_entries_get(const tree_entries *e)
{
    return (tree_bound){{e->key.data, e->key.size}, e->places[e->at]};
}

#endif
