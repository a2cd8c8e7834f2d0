/* SPDX-License-Identifier: MIT */
/* The order of entries, and where one block ends and the next begins. */
#ifndef KSV_BTREE_TREE_BOUND_H
#define KSV_BTREE_TREE_BOUND_H

#include <string.h>

#include "btree/tree.h"

/* Stands for all entries that are not before (key, place). All zero stands for
 * all there are. */
typedef struct tree_bound {
    tree_key key;
    tree_place place;
} tree_bound;

/* Below 0, 0 or above 0, as memcmp(). */
int tree_key_compare(tree_key a, tree_key b);
int tree_place_compare(tree_place a, tree_place b);
int tree_bound_compare(const tree_bound *a, const tree_bound *b);

/* Compares the key that is the first `shared` bytes of `base` and then `rest`
 * with `key`. */
int tree_joined_compare(tree_key base, size_t shared, tree_key rest,
                        tree_key key);

/* Bytes that both begin with. */
size_t tree_key_shared(tree_key a, tree_key b);

/* The shortest bound that is above `last` and not above `next`, which follow
 * each other. `shared` is what both keys share. The key of the bound is a
 * beginning of that of `next`, where it stays. */
tree_bound tree_bound_between(const tree_bound *last, const tree_bound *next,
                              size_t shared);

#endif
