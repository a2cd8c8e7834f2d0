/* SPDX-License-Identifier: MIT */
/* Checks every page of an LMDB environment that a commit refers to. */
#ifndef KSV_MDB_LMDB_WALKER_H
#define KSV_MDB_LMDB_WALKER_H

#include <keysieve/memory.h>

#include "mdb/lmdb_page.h"

/* Called for each entry of the main tree in key order; the bytes are borrowed
 * for the call. `value` is NULL for one that was skipped. A status other than
 * KSV_OK ends the walk and is returned. */
typedef ksv_status (*lmdb_visit_fn)(void *ctx, const uint8_t *key,
                                    size_t key_bytes, const uint8_t *value,
                                    size_t value_bytes, ksv_error *error);

typedef struct lmdb_walk_options {
    lmdb_order order;
    /* Values that have pages of their own are not read. Each has to have as
     * many pages as it needs, and only where these are is checked. */
    bool skips_values;
    lmdb_visit_fn visit; /* may be NULL */
    void *ctx;
} lmdb_walk_options;

/* Walks the commit that `head` (of that file) names with plain reads, so that
 * no byte of the file can do harm: LMDB may map it afterwards. Checked are
 * headers, bounds of pages, nodes, values and free lists, key order, counts and
 * that every page belongs to exactly one thing. Values are not judged, and
 * neither is what pages that are free hold. `*bytes_read` (may be NULL) is
 * added to. KSV_ERROR_CORRUPT names the page's offset. */
ksv_status lmdb_walk(ksv_file *file, const char *path, const lmdb_head *head,
                     const ksv_allocator *allocator,
                     const lmdb_walk_options *options, uint64_t *bytes_read,
                     ksv_error *error);

/* Some of the pages of a file, a bit each. */
typedef struct lmdb_page_set {
    uint8_t *bits;
    size_t size_bytes;
    uint64_t count;
} lmdb_page_set;

static inline bool lmdb_page_set_has(const lmdb_page_set *set, uint64_t number)
{
    return number / 8 < set->size_bytes &&
           (set->bits[number / 8] >> (number & 7) & 1) != 0;
}

/* The pages that the main tree of that commit cannot use: the free ones and
 * those of the free list itself. A page number that was damaged may lead to an
 * old page, which looks well; this tells them apart. */
ksv_status lmdb_unused_pages(ksv_file *file, const char *path,
                             const lmdb_head *head,
                             const ksv_allocator *allocator, lmdb_page_set *out,
                             uint64_t *bytes_read, ksv_error *error);
void lmdb_page_set_release(lmdb_page_set *set, const ksv_allocator *allocator);

#endif
