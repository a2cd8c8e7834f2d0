/* SPDX-License-Identifier: MIT */
/* The open index: its current snapshot, shared by the calls that use it. */
#include "lookup/index_handle.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* A build may replace sidecars that a snapshot has not opened yet; a call
 * follows, but not for ever. */
enum { RENEWALS_MAX = 16 };

void ksv_index_options_init(ksv_index_options *options)
{
    memset(options, 0, sizeof *options);
}

static ksv_status share(const ksv_allocator *a, index_snapshot *snapshot,
                        shared_snapshot **out, ksv_error *error)
{
    *out = memory_zalloc(a, sizeof **out);
    if (*out == NULL) {
        index_snapshot_close(snapshot);
        return error_set_memory(error);
    }
    (*out)->snapshot = snapshot;
    (*out)->users = 1;
    return KSV_OK;
}

static ksv_status read_snapshot(ksv_index *index, shared_snapshot **out,
                                ksv_error *error)
{
    *out = NULL;
    index_snapshot *snapshot;
    KSV_TRY(index_snapshot_open(index->directory, &index->options, &snapshot,
                                error));
    return share(&index->allocator, snapshot, out, error);
}

shared_snapshot *index_acquire(ksv_index *index)
{
    mutex_lock(&index->lock);
    shared_snapshot *shared = index->current;
    shared->users++;
    mutex_unlock(&index->lock);
    return shared;
}

void index_release(ksv_index *index, shared_snapshot *shared)
{
    if (shared == NULL)
        return;
    mutex_lock(&index->lock);
    bool last = --shared->users == 0;
    mutex_unlock(&index->lock);
    if (!last)
        return;
    index_snapshot_close(shared->snapshot);
    memory_free(&index->allocator, shared, sizeof *shared);
}

static bool is_another(const index_snapshot *newer, index_snapshot *old)
{
    return newer->state.generation != old->state.generation ||
           memcmp(newer->state.parameters.index_id,
                  old->state.parameters.index_id,
                  sizeof old->state.parameters.index_id) != 0 ||
           snapshot_is_outdated(old);
}

/* Makes the committed state the current one if it is another than `shared`. */
static bool refresh(ksv_index *index, const shared_snapshot *shared)
{
    shared_snapshot *newer;
    if (read_snapshot(index, &newer, NULL) != KSV_OK)
        return false;
    if (!is_another(newer->snapshot, shared->snapshot)) {
        index_release(index, newer);
        return false;
    }
    mutex_lock(&index->lock);
    shared_snapshot *old = index->current;
    index->current = newer;
    mutex_unlock(&index->lock);
    index_release(index, old);
    return true;
}

bool index_renew(ksv_index *index, shared_snapshot **shared, ksv_status failure,
                 unsigned *renewals)
{
    bool may_be_old = failure == KSV_ERROR_CORRUPT ||
                      failure == KSV_ERROR_STALE || failure == KSV_ERROR_IO;
    if (!may_be_old || (*renewals)++ == RENEWALS_MAX ||
        !refresh(index, *shared))
        return false;
    index_release(index, *shared);
    *shared = index_acquire(index);
    return true;
}

static ksv_status open_handle(ksv_index *index, const char *directory,
                              ksv_error *error)
{
    index->directory =
        memory_copy_string(&index->allocator, directory, strlen(directory));
    if (index->directory == NULL)
        return error_set_memory(error);
    return read_snapshot(index, &index->current, error);
}

ksv_status ksv_index_open(const char *directory,
                          const ksv_index_options *options, ksv_index **index,
                          ksv_error *error)
{
    *index = NULL;
    ksv_index_options defaults;
    ksv_index_options_init(&defaults);
    if (options == NULL)
        options = &defaults;
    ksv_allocator a = allocator_or_default(options->allocator);
    ksv_index *opened = memory_zalloc(&a, sizeof *opened);
    if (opened == NULL)
        return error_set_memory(error);
    opened->allocator = a;
    opened->options = *options;
    opened->options.allocator = &opened->allocator;
    ksv_status status = mutex_init(&opened->lock, error);
    if (status != KSV_OK) {
        memory_free(&a, opened, sizeof *opened);
        return status;
    }
    status = open_handle(opened, directory, error);
    if (status != KSV_OK) {
        ksv_index_close(opened);
        return status;
    }
    *index = opened;
    return KSV_OK;
}

void ksv_index_close(ksv_index *index)
{
    if (index == NULL)
        return;
    ksv_allocator a = index->allocator;
    index_release(index, index->info_snapshot);
    index_release(index, index->current);
    memory_free(&a, index->info_files,
                index->info_file_count * sizeof *index->info_files);
    memory_free_string(&a, index->directory);
    mutex_release(&index->lock);
    memory_free(&a, index, sizeof *index);
}
