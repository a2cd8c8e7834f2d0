/* SPDX-License-Identifier: MIT */
/* The index of a sorted table while its blocks come, one level over the other.
 */
#ifndef KSV_SORTED_INDEX_BUILDER_H
#define KSV_SORTED_INDEX_BUILDER_H

#include "sorted/block_builder.h"

/* Of one level: what its next block will hold. */
typedef struct index_level {
    block_builder builder;
    byte_buffer first; /* key of its first entry */
    bool continues;    /* likewise */
} index_level;

/* A writer adds places and decides when an index block is full; who checks a
 * table does the same and compares. All zero is one that may be released. */
typedef struct index_builder {
    const ksv_allocator *allocator;             /* borrowed */
    index_level levels[SORTED_MOST_LEVELS + 1]; /* from 1 on */
    unsigned begun; /* levels that were begun: 1..begun */
} index_builder;

void index_builder_init(index_builder *index, const ksv_allocator *allocator);
void index_builder_release(index_builder *index);

/* Adds a block of the level below; see block_builder_add_place(). */
ksv_status index_builder_add(index_builder *index, unsigned level,
                             sorted_key key, bool continues,
                             const block_place *place, ksv_error *error);

/* After the block that the level's entries make up was written, or found in the
 * file, at `place`: adds it to the next level and begins another one. */
ksv_status index_builder_move_up(index_builder *index, unsigned level,
                                 const block_place *place, ksv_error *error);

/* Whether all that was added is below the one entry of `level`, which is then
 * the root; its place is `*root`. */
bool index_builder_has_root(const index_builder *index, unsigned level,
                            block_place *root);

#endif
