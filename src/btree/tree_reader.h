/* SPDX-License-Identifier: MIT */
/* An open tree, which threads share, beside a writer that may be at work. */
#ifndef KSV_BTREE_TREE_READER_H
#define KSV_BTREE_TREE_READER_H

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "btree/tree.h"

typedef struct tree_reader_options {
    const ksv_file_system *fs;      /* borrowed until the reader is closed */
    const ksv_allocator *allocator; /* NULL: the C library's */
    const char *path;
    ksv_file *file; /* that is read, borrowed; NULL: `path` is opened */
    uint8_t id[16]; /* of the tree that is meant */
    /* The transaction after which it held all that the state of the catalog
     * names (tree_writer_commit()). An older one is KSV_ERROR_CORRUPT. */
    uint64_t least_txn_id;
    /* The generation of that state. When entries that it may name were removed
     * since, functions fail with KSV_ERROR_STALE: the state has to be taken up
     * again. */
    uint64_t generation;
} tree_reader_options;

/* Safe to share between threads. Reads the file with plain reads only: LMDB
 * never sees it, nothing is written, and damage is KSV_ERROR_CORRUPT. Entries
 * of parts that the state of the catalog does not name are told like all
 * others; who asks leaves them out. While a writer is at work, a reader goes on
 * to its transactions by itself when pages were used again under it. */
typedef struct tree_reader tree_reader;

ksv_status tree_reader_open(const tree_reader_options *options,
                            tree_reader **out, ksv_error *error);
void tree_reader_close(tree_reader *reader); /* NULL is allowed */

/* Of the transaction that is read now. */
void tree_reader_get_info(tree_reader *reader, tree_info *info);

/* What looking has cost; added to. */
typedef struct tree_cost {
    uint64_t blocks; /* read */
    uint64_t bytes;  /* of all reads */
} tree_cost;

#endif
