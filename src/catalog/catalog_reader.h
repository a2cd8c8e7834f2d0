/* SPDX-License-Identifier: MIT */
/* One look at the committed state, beside a builder that may be at work. */
#ifndef KSV_CATALOG_CATALOG_READER_H
#define KSV_CATALOG_CATALOG_READER_H

#include "catalog/catalog.h"
#include "mdb/lmdb_layout.h"

/* What catalog.mdb was when it was looked at: when it is the same after a
 * failure, no builder was the reason for it. */
typedef struct catalog_view {
    bool exists;
    uint64_t size_bytes;
    lmdb_head head;
} catalog_view;

/* Opens catalog.mdb (`path`) and reads its head: `*file` is NULL when there is
 * no such file or it is empty (KSV_OK), or on failure. */
ksv_status view_open(const ksv_file_system *fs, const char *path,
                     catalog_view *view, ksv_file **file, ksv_error *error);

/* Judges a directory without catalog.mdb, or with one that is empty or has no
 * commit: KSV_ERROR_NO_INDEX, or KSV_ERROR_CORRUPT because of what else is
 * there. */
ksv_status view_judge_absence(const ksv_file_system *fs, const char *directory,
                              const char *path, const catalog_view *view,
                              const ksv_allocator *allocator, ksv_error *error);

/* Called with an open catalog.mdb that has a commit. */
typedef ksv_status (*view_fn)(void *ctx, ksv_file *file, const char *path,
                              const catalog_view *view, ksv_error *error);

/* Calls `look`, again while a builder changes the index under it. */
ksv_status view_look(const ksv_file_system *fs, const char *directory,
                     const ksv_allocator *allocator, view_fn look, void *ctx,
                     ksv_error *error);

#endif
