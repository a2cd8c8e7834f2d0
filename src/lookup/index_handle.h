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

/* Whether a call that failed with `failure` can begin again, since what it
 * worked on is no longer what is there: a build has committed, another index
 * has taken the place, or a data file that was open. Then `*shared` is the new
 * state, and the old one released. Not more than a few times a call, which
 * `*renewals` (0 at first) counts. */
bool index_renew(ksv_index *index, shared_snapshot **shared, ksv_status failure,
                 unsigned *renewals);

#endif
