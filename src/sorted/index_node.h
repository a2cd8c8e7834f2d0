/* SPDX-License-Identifier: MIT */
/* An index block in memory: which block can hold a key. */
#ifndef KSV_SORTED_INDEX_NODE_H
#define KSV_SORTED_INDEX_NODE_H

#include <stdatomic.h>

#include <keysieve/io.h>

#include "sorted/block.h"

/* A block that an index block leads to: its first key is the index's key or
 * comes after it; `continues`: it is that key, whose run began before. */
typedef struct index_child {
    block_place place;
    bool continues;
} index_child;

typedef struct index_node index_node;
typedef _Atomic(index_node *) index_node_slot;

/* Constant once it was loaded, but for the slots. */
struct index_node {
    const ksv_allocator *allocator; /* borrowed */
    unsigned level;                 /* 1: children are blocks of data */
    size_t count;
    index_child *children;
    index_node_slot *slots; /* nodes of children; NULL at level 1 */
    sorted_block block;
    byte_buffer stored;
    byte_buffer raw;
};

/* Reads and checks an index block. */
ksv_status index_node_load(ksv_file *file, const ksv_allocator *allocator,
                           const block_place *place, uint64_t tag,
                           unsigned level, inflater *decoder, index_node **out,
                           ksv_error *error);
/* With all nodes below it. NULL is allowed. */
void index_node_free(index_node *node);

/* The number of the child in which entries of `key` begin, if there are any.
 * `walker` is any one. */
ksv_status index_node_find(const index_node *node, block_walker *walker,
                           sorted_key key, size_t *child, ksv_error *error);

#endif
