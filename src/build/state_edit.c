/* SPDX-License-Identifier: MIT */
/* Changes of a catalog state while a build goes on. */
#include "build/state_edit.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "catalog/file_identity.h"

ksv_status state_edit_open(state_edit *edit, catalog_state *state,
                           ksv_error *error)
{
    *edit = (state_edit){.state = state,
                         .file_count = state->file_count,
                         .first_new_id = state->next_segment_id};
    edit->fates = memory_zalloc(&state->allocator, edit->file_count);
    return edit->fates != NULL ? KSV_OK : error_set_memory(error);
}

void state_edit_close(state_edit *edit)
{
    if (edit->state != NULL)
        memory_free(&edit->state->allocator, edit->fates, edit->file_count);
    *edit = (state_edit){.state = NULL};
}

ksv_status state_edit_add_segment(state_edit *edit, catalog_segment *segment,
                                  ksv_error *error)
{
    catalog_state *state = edit->state;
    if (state->next_segment_id <= segment->id)
        state->next_segment_id = segment->id + 1;
    return catalog_state_add_segment(state, segment, error);
}

static ksv_status add_segment(state_edit *edit, built_file *built,
                              uint64_t ordinal, ksv_error *error)
{
    catalog_segment *segment = &built->segment;
    if (edit->state->next_segment_id <= built->id)
        edit->state->next_segment_id = built->id + 1;
    if (segment->part_count == 0)
        return KSV_OK;
    for (size_t i = 0; i < segment->part_count; i++)
        segment->parts[i].ordinal = ordinal;
    return state_edit_add_segment(edit, segment, error);
}

uint64_t state_edit_ordinal(const state_edit *edit, const planned_file *planned)
{
    const catalog_state *state = edit->state;
    return planned->known == PLAN_NOT_KNOWN
               ? state->next_ordinal
               : state->files[planned->known].ordinal;
}

ksv_status state_edit_put(state_edit *edit, const planned_file *planned,
                          built_file *built, ksv_error *error)
{
    catalog_state *state = edit->state;
    size_t at = planned->known;
    bool is_new = at == PLAN_NOT_KNOWN;
    uint64_t ordinal = state_edit_ordinal(edit, planned);
    built->file.ordinal = ordinal;
    ksv_status status = add_segment(edit, built, ordinal, error);
    if (status != KSV_OK) {
        catalog_file_release(&state->allocator, &built->file);
        return status;
    }
    if (is_new) {
        state->next_ordinal++;
        return catalog_state_add_file(state, &built->file, error);
    }
    catalog_file_release(&state->allocator, &state->files[at]);
    state->files[at] = built->file;
    memset(&built->file, 0, sizeof built->file);
    edit->fates[at] = built->growth.is_grown ? FATE_KEPT : FATE_REPLACED;
    return KSV_OK;
}

void state_edit_drop(state_edit *edit, size_t index)
{
    edit->fates[index] = FATE_DROPPED;
}

ksv_status state_edit_refresh(state_edit *edit, const planned_file *planned,
                              bool *changed, ksv_error *error)
{
    catalog_state *state = edit->state;
    if (planned->known == PLAN_NOT_KNOWN)
        return KSV_OK;
    catalog_file *file = &state->files[planned->known];
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

/* Whether a part of an old segment is still content of its file. */
static bool is_of_use(const state_edit *edit, const catalog_part *part)
{
    if (part->is_dead)
        return false;
    const catalog_file *file = catalog_find_file(edit->state, part->ordinal);
    size_t index = (size_t)(file - edit->state->files);
    return edit->fates[index] == FATE_KEPT;
}

/* Whether any part is left alive. */
static bool review_segment(const state_edit *edit, catalog_segment *segment)
{
    bool lives = false;
    for (size_t i = 0; i < segment->part_count; i++) {
        catalog_part *part = &segment->parts[i];
        part->is_dead = !is_of_use(edit, part);
        lives = lives || !part->is_dead;
    }
    return lives;
}

static void review_segments(const state_edit *edit)
{
    catalog_state *state = edit->state;
    size_t kept = 0;
    for (size_t i = 0; i < state->segment_count; i++) {
        catalog_segment *segment = &state->segments[i];
        if (segment->id >= edit->first_new_id || review_segment(edit, segment))
            state->segments[kept++] = *segment;
        else
            catalog_segment_release(&state->allocator, segment);
    }
    state->segment_count = kept;
}

void state_edit_finish(state_edit *edit)
{
    catalog_state *state = edit->state;
    review_segments(edit);
    size_t kept = 0;
    for (size_t i = 0; i < state->file_count; i++) {
        if (i < edit->file_count && edit->fates[i] == FATE_DROPPED)
            catalog_file_release(&state->allocator, &state->files[i]);
        else
            state->files[kept++] = state->files[i];
    }
    state->file_count = kept;
}
