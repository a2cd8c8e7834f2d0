/* SPDX-License-Identifier: MIT */
/* Writes states into LMDB environments. */
#ifndef KSV_CATALOG_CATALOG_STORE_H
#define KSV_CATALOG_CATALOG_STORE_H

#include "catalog/catalog.h"
#include "catalog/catalog_copy.h"

/* LMDB opens paths by itself, so that an environment has to lie in the file
 * system of the operating system. An environment is open only during one of
 * these calls, which no two threads may make for one path at a time. What is
 * there has to be checked before (lmdb_walk()): LMDB trusts its pages. */

/* Makes an environment without a commit at `path`, where nothing is. */
ksv_status store_create(const char *path, ksv_error *error);

/* Makes the first commit of an environment, which holds `state` as if its
 * transaction had `mark->generation`. Nothing is synced. */
ksv_status store_fill(const char *path, const catalog_state *state,
                      const catalog_mark *mark, uint64_t body_checksum,
                      ksv_error *error);

/* Makes `state` what the environment at `path` holds, in one synced write
 * transaction, whose id has to be `mark->generation`. Records that are the same
 * are left alone. `environment_bytes` is the size of the file, to choose the
 * size of the map by. */
ksv_status store_commit(const char *path, uint64_t environment_bytes,
                        const catalog_state *state, const catalog_mark *mark,
                        uint64_t body_checksum, ksv_error *error);

#endif
