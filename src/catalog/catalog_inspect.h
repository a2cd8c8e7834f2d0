/* SPDX-License-Identifier: MIT */
/* What a builder finds in an index directory, and what has to be done to it. */
#ifndef KSV_CATALOG_CATALOG_INSPECT_H
#define KSV_CATALOG_CATALOG_INSPECT_H

#include "catalog/catalog.h"
#include "catalog/catalog_copy.h"
#include "mdb/lmdb_layout.h"

typedef enum inspect_finding {
    INSPECT_NOTHING,     /* no file of an index */
    INSPECT_UNCOMMITTED, /* a good environment without a commit */
    INSPECT_GOOD,
    INSPECT_ENVIRONMENT_DAMAGED, /* the state is that of the copy */
    INSPECT_COPY_DAMAGED,        /* the state is that of the environment */
    INSPECT_LOST                 /* both, beyond repair */
} inspect_finding;

typedef struct inspection {
    inspect_finding finding;
    lmdb_head head;      /* when the environment has a good one */
    uint64_t highest;    /* generation that any file claims */
    catalog_state state; /* empty when nothing is known */
    ksv_error damage;    /* the first that was found */
} inspection;

/* Looks only. KSV_ERROR_VERSION for an index of a later version; what cannot be
 * read is KSV_ERROR_IO. `result->state` is released by the caller after
 * success. */
ksv_status inspect_index(const ksv_file_system *fs, const char *directory,
                         const ksv_allocator *allocator, inspection *result,
                         ksv_error *error);

#endif
