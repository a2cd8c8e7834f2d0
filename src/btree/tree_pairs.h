/* SPDX-License-Identifier: MIT */
/* Entries in memory, in order. */
#ifndef KSV_BTREE_TREE_PAIRS_H
#define KSV_BTREE_TREE_PAIRS_H

#include "base/memory.h"
#include "btree/tree_bound.h"

typedef struct tree_pair {
    size_t key_offset; /* in `keys`; pairs of one key may share it */
    size_t key_bytes;
    tree_place place;
    bool is_out; /* not to stay, or to be taken out */
} tree_pair;

typedef struct tree_pairs {
    byte_buffer keys;
    tree_pair *items;
    size_t count;
    size_t capacity;
} tree_pairs;

void tree_pairs_init(tree_pairs *pairs, const ksv_allocator *allocator);
void tree_pairs_release(tree_pairs *pairs);
void tree_pairs_clear(tree_pairs *pairs); /* keeps the memory */

ksv_status tree_pairs_add(tree_pairs *pairs, const tree_bound *entry,
                          bool is_out, ksv_error *error);

static inline tree_bound tree_pairs_get(const tree_pairs *pairs, size_t i)
{
    const tree_pair *p = &pairs->items[i];
    const uint8_t *keys = pairs->keys.data;
    return (tree_bound){
        {keys != NULL ? keys + p->key_offset : NULL, p->key_bytes}, p->place};
}

#endif
