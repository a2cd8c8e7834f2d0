/* SPDX-License-Identifier: MIT */
/* The patterns whose matches an update of the index takes in. */
#include <keysieve/index.h>

#include "base/error.h"
#include "base/memory.h"
#include "catalog/watch_list.h"
#include "io/file.h"
#include "lookup/index_handle.h"

static ksv_status give_patterns(const index_snapshot *s, ksv_pattern_fn visit,
                                void *ctx, ksv_error *error)
{
    const catalog_parameters *parameters = &s->state.parameters;
    size_t at = 0;
    watch_entry entry;
    KSV_TRY(watch_list_check(parameters, error));
    while (watch_list_next(parameters, &at, &entry)) {
        char *pattern =
            path_join(&s->allocator, entry.given_directory, entry.pattern);
        if (pattern == NULL)
            return error_set_memory(error);
        bool goes_on = visit(ctx, pattern);
        memory_free_string(&s->allocator, pattern);
        if (!goes_on)
            return KSV_OK;
    }
    return KSV_OK;
}

ksv_status ksv_index_watch_patterns(ksv_index *index, ksv_pattern_fn visit,
                                    void *ctx, ksv_error *error)
{
    shared_snapshot *shared = index_acquire(index);
    ksv_status status = give_patterns(shared->snapshot, visit, ctx, error);
    index_release(index, shared);
    return status;
}
