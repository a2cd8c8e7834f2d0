/* SPDX-License-Identifier: MIT */
/* The open index: its current snapshot, shared by the calls that use it. */
#ifndef KSV_LOOKUP_INDEX_HANDLE_H
#define KSV_LOOKUP_INDEX_HANDLE_H

#include <stddef.h>

#include <keysieve/index.h>

#include "base/mutex.h"
#include "lookup/index_snapshot.h"

typedef struct shared_snapshot {
    index_snapshot *snapshot;
    size_t users; /* guarded by the lock of the handle */
} shared_snapshot;

struct ksv_index {
    ksv_allocator allocator;
    ksv_index_options options;
    char *directory;
    mutex lock;
    shared_snapshot *current; /* counts as one user */
    /* What ksv_index_get_info() filled last. */
    ksv_index_file *info_files;
    size_t info_file_count;
    shared_snapshot *info_snapshot; /* keeps the strings alive */
};

/* The current snapshot, kept alive until it is released. */
shared_snapshot *index_acquire(ksv_index *index);
void index_release(ksv_index *index, shared_snapshot *shared);

/* Whether a build has committed since `shared` was read; then the newer state
 * is the current one from now on. */
bool index_refresh(ksv_index *index, const shared_snapshot *shared);

#endif
