/* SPDX-License-Identifier: MIT */
/* What is known of a tree of keys: whole keys, each with places of records. */
#ifndef KSV_BTREE_TREE_H
#define KSV_BTREE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/status.h>

/* A tree is one LMDB environment in one file. It holds a set of pairs (key,
 * place), ordered by the bytes of the key (a key comes before all that it is a
 * beginning of), then by place. Keys may be empty, hold any bytes, and be as
 * long as this. */
#define TREE_MOST_KEY_BYTES ((size_t)1 << 30)

/* A key is borrowed bytes. */
typedef struct tree_key {
    const uint8_t *data;
    size_t size_bytes;
} tree_key;

#define TREE_MOST_PART (UINT64_MAX >> 1)

/* Where a record is: an offset in a part, both of which mean what the user of
 * the tree says. A part is what is added and dropped as a whole, such as a
 * segment. Its number is never given again, not even after a build that was
 * killed: it is at least `tree_info.next_part` of the tree. */
typedef struct tree_place {
    uint64_t part; /* up to TREE_MOST_PART */
    uint64_t offset;
} tree_place;

/* How many entries of a part are in a tree. */
typedef struct tree_part {
    uint64_t part;
    uint64_t entries;
} tree_part;

typedef struct tree_info {
    uint8_t id[16];     /* tells the tree from others */
    uint64_t txn_id;    /* of its last transaction */
    uint64_t next_part; /* above every part that ever was in it */
    /* Entries of parts that are dead since this generation of the catalog were
     * removed: states before it may name what is no longer there. */
    uint64_t least_generation;
    uint64_t entries;
    uint64_t part_count;
    uint64_t blocks;
    uint64_t inner_pages; /* LMDB's pages above the blocks */
    uint64_t free_bytes;  /* in the file, to be used again */
    uint64_t file_bytes;
    unsigned page_bytes;
    unsigned depth; /* pages on the way to a block, the block left out */
} tree_info;

#endif
