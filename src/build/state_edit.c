/* SPDX-License-Identifier: MIT */
/* Changes of a catalog state while a build goes on. */
#include "build/state_edit.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "catalog/file_identity.h"

static void drop_segment(catalog_state *state, uint64_t id)
{
    for (size_t i = 0; i < state->segment_count; i++) {
        if (state->segments[i].id != id)
            continue;
        memmove(&state->segments[i], &state->segments[i + 1],
                (state->segment_count - i - 1) * sizeof *state->segments);
        state->segment_count--;
        return;
    }
}

void state_drop_file(catalog_state *state, size_t index)
{
    catalog_file *file = &state->files[index];
    drop_segment(state, file->segment_id);
    catalog_file_release(&state->allocator, file);
    memmove(file, file + 1,
            (state->file_count - index - 1) * sizeof *state->files);
    state->file_count--;
}

/* A file may have moved in the array since the plan was made. */
static size_t find_by_path(const catalog_state *state, const char *relative)
{
    for (size_t i = 0; i < state->file_count; i++)
        if (strcmp(state->files[i].relative_path, relative) == 0)
            return i;
    return PLAN_NOT_KNOWN;
}

static ksv_status add_segment(catalog_state *state, const built_file *built,
                              ksv_error *error)
{
    if (built->file.segment_id == 0)
        return KSV_OK;
    if (state->next_segment_id <= built->file.segment_id)
        state->next_segment_id = built->file.segment_id + 1;
    return catalog_state_add_segment(state, &built->segment, error);
}

ksv_status state_put_file(catalog_state *state, const planned_file *planned,
                          built_file *built, ksv_error *error)
{
    ksv_status status = add_segment(state, built, error);
    if (status != KSV_OK) {
        catalog_file_release(&state->allocator, &built->file);
        return status;
    }
    size_t at = find_by_path(state, planned->relative_path);
    if (at == PLAN_NOT_KNOWN) {
        built->file.ordinal = state->next_ordinal++;
        return catalog_state_add_file(state, &built->file, error);
    }
    built->file.ordinal = state->files[at].ordinal;
    drop_segment(state, state->files[at].segment_id);
    catalog_file_release(&state->allocator, &state->files[at]);
    state->files[at] = built->file;
    return KSV_OK;
}

ksv_status state_refresh_file(catalog_state *state, const planned_file *planned,
                              bool *changed, ksv_error *error)
{
    size_t at = find_by_path(state, planned->relative_path);
    if (at == PLAN_NOT_KNOWN)
        return KSV_OK;
    catalog_file *file = &state->files[at];
    if (strcmp(file->given_path, planned->given_path) != 0) {
        char *copy = memory_copy_string(&state->allocator, planned->given_path,
                                        strlen(planned->given_path));
        if (copy == NULL)
            return error_set_memory(error);
        memory_free_string(&state->allocator, file->given_path);
        file->given_path = copy;
        *changed = true;
    }
    if (planned->action == PLAN_REFRESH) {
        file_identity_record(file, &planned->info);
        *changed = true;
    }
    return KSV_OK;
}
