/* SPDX-License-Identifier: MIT */
/* A builder's hold on an index directory: making it, locking, tidying. */
#ifndef KSV_CATALOG_CATALOG_HOLD_H
#define KSV_CATALOG_CATALOG_HOLD_H

#include "catalog/catalog.h"

typedef struct catalog_hold {
    const ksv_file_system *fs;
    ksv_allocator allocator;
    char *directory;
    ksv_file *lock;      /* NULL: not held */
    bool made_directory; /* by this hold */
    bool made_lock;
} catalog_hold;

/* Makes the directory if need be, locks it and tries whether files can be made
 * in it. KSV_ERROR_BUSY, or KSV_ERROR_IO about the directory. `hold` is ended
 * with hold_release() after success only; after failure nothing that was made
 * is left. `fs` is borrowed until then. */
ksv_status hold_take(catalog_hold *hold, const ksv_file_system *fs,
                     const char *directory, const ksv_allocator *allocator,
                     ksv_error *error);

/* Gives the lock back; a lock file or directory made for it is removed first
 * when nothing else is in it. */
void hold_release(catalog_hold *hold, bool leave_nothing);

/* Removes every file of ours but catalog.mdb, the lock, the copy of
 * `generation` and the sidecars that `state` names (NULL: all sidecars
 * stay). The first failure is returned, after trying all. */
ksv_status hold_clean(const catalog_hold *hold, uint64_t generation,
                      const catalog_state *state, ksv_error *error);

/* An error about a file of the directory becomes one about the directory, with
 * the remedy to choose another. */
ksv_status hold_blame_directory(const char *directory, ksv_status status,
                                ksv_error *error);

#endif
