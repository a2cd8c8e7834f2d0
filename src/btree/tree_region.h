/* SPDX-License-Identifier: MIT */
/* A stretch of a tree that is written anew within a transaction. */
#ifndef KSV_BTREE_TREE_REGION_H
#define KSV_BTREE_TREE_REGION_H

#include "btree/tree_entries.h"
#include "btree/tree_packer.h"
#include "btree/tree_pairs.h"
#include "btree/tree_target.h"

/* Whether all entries of a part are to go. */
typedef bool (*tree_dead_fn)(void *ctx, uint64_t part);

/* A block of the region, as it was or as it will be. */
typedef struct region_block {
    tree_record_key record;
    size_t offset; /* in `out`; of new ones */
    size_t size_bytes;
} region_block;

typedef struct region_list {
    region_block *items;
    size_t count;
    size_t capacity;
} region_list;

typedef struct region_count {
    uint64_t part;
    int64_t entries; /* more than there were */
} region_count;

typedef struct tree_region {
    const ksv_allocator *allocator; /* borrowed */
    tree_target *target;            /* borrowed */
    tree_dead_fn is_dead;           /* may be NULL */
    void *dead_ctx;
    bool is_open;
    bool has_changed; /* and so have the entries that it will have */
    byte_buffer low_key;
    tree_place low_place;
    bool has_high;
    byte_buffer high_key;
    tree_place high_place;
    tree_pairs old; /* entries that are there, less those of dead parts */
    tree_pairs changes;
    size_t changes_bytes;
    tree_pairs merged;
    region_list before; /* the blocks that are there */
    region_list after;
    region_count *counts;
    size_t count_count;
    size_t count_capacity;
    tree_entries entries;
    tree_packer packer;
    byte_buffer out;     /* the new blocks */
    uint64_t used_bytes; /* of these, without padding */
} tree_region;

void tree_region_init(tree_region *r, tree_target *target);
void tree_region_release(tree_region *r);

/* Begins with the block that covers `bound`. */
ksv_status tree_region_open(tree_region *r, const tree_bound *bound,
                            ksv_error *error);

/* Whether the entry can be added to the changes: it is in the region and behind
 * those that were added, which are not too many yet. */
bool tree_region_takes(const tree_region *r, const tree_bound *entry);

/* To be put in, or taken out. */
ksv_status tree_region_add(tree_region *r, const tree_bound *entry, bool is_out,
                           ksv_error *error);

/* Where the region ends, if it has a high bound; valid until it is opened. */
static inline tree_bound tree_region_high(const tree_region *r)
{
    return (tree_bound){{r->high_key.data, r->high_key.size}, r->high_place};
}

/* Puts what has changed into the transaction. The region is not open
 * afterwards. */
ksv_status tree_region_close(tree_region *r, ksv_error *error);

#endif
