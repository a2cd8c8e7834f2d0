/* SPDX-License-Identifier: MIT */
/* The two meta pages of an LMDB environment, read from its file alone. */
#ifndef KSV_MDB_LMDB_LAYOUT_H
#define KSV_MDB_LMDB_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <keysieve/io.h>

/* This is the layout of LMDB 0.9 (data version 1), as the 0.9.24 release writes
 * it: numbers in the byte order of the machine, page numbers, sizes and
 * transaction ids as wide as its size_t. Nothing here includes lmdb.h: readers
 * judge the bytes before LMDB maps them, or without LMDB. */

#define LMDB_WORD_BYTES sizeof(size_t)
#define LMDB_PAGE_HEADER_BYTES (LMDB_WORD_BYTES + 8)
#define LMDB_TREE_BYTES (8 + 5 * LMDB_WORD_BYTES)
/* From the start of a meta page to the end of what LMDB uses of it. */
#define LMDB_META_BYTES                                                       \
    (LMDB_PAGE_HEADER_BYTES + 8 + 2 * LMDB_WORD_BYTES + 2 * LMDB_TREE_BYTES + \
     2 * LMDB_WORD_BYTES)

#define LMDB_MAGIC 0xbeefc0deu
#define LMDB_DATA_VERSION 1
#define LMDB_NO_PAGE ((uint64_t)SIZE_MAX)
#define LMDB_FIRST_PAGE 2 /* behind the meta pages */

#define LMDB_PAGE_BRANCH 0x01
#define LMDB_PAGE_LEAF 0x02
#define LMDB_PAGE_OVERFLOW 0x04
#define LMDB_PAGE_META 0x08
#define LMDB_NODE_BIGDATA 0x01
#define LMDB_NODE_HEADER_BYTES 8
#define LMDB_TREE_INTEGERKEY 0x08

static inline uint16_t lmdb_load_u16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t lmdb_load_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t lmdb_load_word(const uint8_t *p)
{
    size_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* A B+tree of the environment. */
typedef struct lmdb_tree {
    uint32_t pad; /* of the free list: the page size */
    uint16_t flags;
    uint16_t depth;
    uint64_t branch_pages;
    uint64_t leaf_pages;
    uint64_t overflow_pages;
    uint64_t entries;
    uint64_t root; /* LMDB_NO_PAGE: empty */
} lmdb_tree;

typedef struct lmdb_meta {
    uint64_t page_number;
    uint16_t page_flags;
    uint32_t magic;
    uint32_t version;
    /* LMDB uses it with MDB_FIXEDMAP only, and keeps it otherwise: here it
     * holds the id of the environment. */
    uint64_t address;
    uint64_t map_bytes;
    lmdb_tree free_list;
    lmdb_tree main;
    uint64_t last_page;
    uint64_t txn_id;
} lmdb_meta;

/* What both meta pages say. */
typedef struct lmdb_head {
    uint8_t raw[2][LMDB_META_BYTES];
    uint32_t page_bytes;
    uint64_t environment_id;
    uint64_t txn_id;  /* of the last commit; 0: none yet */
    lmdb_meta newest; /* the meta page of that commit */
    /* The checksum of the other meta page, which stays as it is until the
     * commit after the next. */
    uint64_t other_checksum;
} lmdb_head;

/* Reads and judges the meta pages: KSV_ERROR_CORRUPT, KSV_ERROR_VERSION or
 * KSV_ERROR_IO. `head->raw` is what was read (zeros for what is not there), in
 * case of failure too. */
ksv_status lmdb_head_read(ksv_file *file, const char *path, lmdb_head *head,
                          ksv_error *error);

/* The id of an environment as it is kept, cut to the width of an address. */
uint64_t lmdb_environment_id(uint64_t wanted);

/* Changes the meta page in `page` (LMDB_META_BYTES bytes at least): the id of
 * the environment and of the transaction. */
void lmdb_meta_patch(uint8_t *page, uint64_t environment_id, uint64_t txn_id);

/* The checksum of the first LMDB_META_BYTES bytes of a meta page. */
uint64_t lmdb_meta_checksum(const uint8_t *page);

#endif
