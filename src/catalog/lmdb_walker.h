/* SPDX-License-Identifier: MIT */
/* Checks every page of an LMDB environment that a commit refers to. */
#ifndef KSV_CATALOG_LMDB_WALKER_H
#define KSV_CATALOG_LMDB_WALKER_H

#include <keysieve/memory.h>

#include "catalog/lmdb_layout.h"

/* Called for each entry of the main tree in key order; the bytes are borrowed
 * for the call. A status other than KSV_OK ends the walk and is returned. */
typedef ksv_status (*lmdb_visit_fn)(void *ctx, const uint8_t *key,
                                    size_t key_bytes, const uint8_t *value,
                                    size_t value_bytes, ksv_error *error);

/* Walks the commit that `head` (of that file) names with plain reads, so that
 * no byte of the file can do harm: LMDB may map it afterwards. Checked are
 * headers, bounds of pages, nodes, values and free lists, key order, counts and
 * that every page belongs to exactly one thing. Values are not judged, and
 * neither is what pages that are free hold. `visit` may be NULL. `*bytes_read`
 * (may be NULL) is added to. KSV_ERROR_CORRUPT names the page's offset. */
ksv_status lmdb_walk(ksv_file *file, const char *path, const lmdb_head *head,
                     const ksv_allocator *allocator, lmdb_visit_fn visit,
                     void *ctx, uint64_t *bytes_read, ksv_error *error);

#endif
