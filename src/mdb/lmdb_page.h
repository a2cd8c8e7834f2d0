/* SPDX-License-Identifier: MIT */
/* One page of an LMDB tree, checked while it is read. */
#ifndef KSV_MDB_LMDB_PAGE_H
#define KSV_MDB_LMDB_PAGE_H

#include "mdb/lmdb_layout.h"
#include "mdb/lmdb_order.h"

/* LMDB itself has room for as many levels. */
#define LMDB_DEPTH_MOST 32

typedef struct lmdb_page {
    uint64_t number;
    const uint8_t *bytes; /* borrowed */
    size_t page_bytes;
    unsigned nodes;
    bool is_leaf;
} lmdb_page;

typedef struct lmdb_node {
    const uint8_t *key;
    size_t key_bytes;
    uint32_t value_bytes; /* in leaves */
    uint64_t child;       /* in branches */
    unsigned flags;       /* in leaves */
    const uint8_t *value; /* in leaves: the value, or its page's number */
} lmdb_node;

/* Whether the value of a leaf's node has pages of its own. */
static inline bool lmdb_node_is_big(const lmdb_node *node)
{
    return (node->flags & LMDB_NODE_BIGDATA) != 0;
}

/* Pages that a value of `value_bytes` bytes takes by itself. */
static inline uint64_t lmdb_big_pages(size_t page_bytes, uint64_t value_bytes)
{
    return (LMDB_PAGE_HEADER_BYTES + value_bytes - 1) / page_bytes + 1;
}

/* Takes the `page_bytes` bytes read of page `number` as a branch or a leaf with
 * at least `nodes_least` nodes. NULL, or what is wrong with them: a phrase
 * about the page. All nodes lie in it and none overlaps another then. */
const char *lmdb_page_take(const uint8_t *bytes, size_t page_bytes,
                           uint64_t number, bool is_leaf, unsigned nodes_least,
                           lmdb_page *out);

/* The same page once more; false: it is not of that kind. */
static inline bool lmdb_page_take_again(const uint8_t *bytes, size_t page_bytes,
                                        bool is_leaf, lmdb_page *out)
{
    const uint8_t *fields = bytes + LMDB_WORD_BYTES;
    unsigned lower = lmdb_load_u16(fields + 4);
    *out = (lmdb_page){lmdb_load_word(bytes), bytes, page_bytes,
                       (lower - (unsigned)LMDB_PAGE_HEADER_BYTES) / 2, is_leaf};
    return lmdb_load_u16(fields + 2) ==
           (is_leaf ? LMDB_PAGE_LEAF : LMDB_PAGE_BRANCH);
}

/* Node `i` of a page that lmdb_page_take() has accepted. */
void lmdb_page_node(const lmdb_page *page, unsigned i, lmdb_node *out);

/* The pages of a big value by the head of its first one, which is page `first`:
 * 0 when that is no such head. */
uint64_t lmdb_big_head(const uint8_t *bytes, uint64_t first);

#endif
