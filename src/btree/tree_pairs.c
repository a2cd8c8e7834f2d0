/* SPDX-License-Identifier: MIT */
/* Entries in memory, in order. */
#include "btree/tree_pairs.h"

#include "base/error.h"

void tree_pairs_init(tree_pairs *pairs, const ksv_allocator *allocator)
{
    *pairs = (tree_pairs){.items = NULL};
    buffer_init(&pairs->keys, allocator);
}

void tree_pairs_release(tree_pairs *pairs)
{
    memory_free(pairs->keys.allocator, pairs->items,
                pairs->capacity * sizeof *pairs->items);
    buffer_release(&pairs->keys);
    pairs->items = NULL;
}

void tree_pairs_clear(tree_pairs *pairs)
{
    buffer_clear(&pairs->keys);
    pairs->count = 0;
}

ksv_status tree_pairs_add(tree_pairs *pairs, const tree_bound *entry,
                          bool is_out, ksv_error *error)
{
    if (pairs->count == pairs->capacity) {
        void *items = pairs->items;
        KSV_TRY(memory_grow(pairs->keys.allocator, &items, &pairs->capacity,
                            pairs->count + 1, sizeof *pairs->items, error));
        pairs->items = items;
    }
    tree_pair *p = &pairs->items[pairs->count];
    *p = (tree_pair){pairs->keys.size, entry->key.size_bytes, entry->place,
                     is_out};
    bool is_same = pairs->count > 0 &&
                   tree_key_compare(tree_pairs_get(pairs, pairs->count - 1).key,
                                    entry->key) == 0;
    if (is_same)
        p->key_offset = p[-1].key_offset;
    else
        KSV_TRY(buffer_append(&pairs->keys, entry->key.data,
                              entry->key.size_bytes, error));
    pairs->count++;
    return KSV_OK;
}
