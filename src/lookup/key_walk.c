/* SPDX-License-Identifier: MIT */
/* Goes over the keys of all segments of a snapshot in their order: one cursor a
 * segment, and of the keys that they are at the one that comes first. */
#include "lookup/key_walk.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static index_snapshot *snapshot_of(const key_walk *w)
{
    return w->session.snapshot;
}

static ksv_key key_at(const walk_input *input)
{
    return (ksv_key){input->cursor->entry.key, input->cursor->entry.key_bytes};
}

static ksv_status move(key_walk *w, size_t i, table_move where,
                       ksv_error *error)
{
    walk_input *input = &w->inputs[i];
    table_cursor *cursor = input->cursor;
    const table_key gap = {w->gap.data, w->gap.size, 0, true};
    ksv_status status = cursor->move(cursor, where, &gap, &input->is_at, error);
    table_cost cost = {.pages = 0};
    table_cost_add(&cost, &cursor->cost, &input->counted);
    lookup_add_table_cost(&w->receipt, &cost);
    input->counted = cursor->cost;
    if (status != KSV_OK) {
        input->is_at = false;
        segment_table_error(&snapshot_of(w)->place,
                            snapshot_of(w)->segments[i].facts->id, error);
    }
    return status;
}

static ksv_status open_input(key_walk *w, size_t i, ksv_error *error)
{
    const segment_table *table;
    KSV_TRY(snapshot_table(snapshot_of(w), i, &table, &w->receipt, error));
    return table->organisation->open_cursor(table, &w->inputs[i].cursor, error);
}

static ksv_status require_keys(const index_snapshot *s, ksv_error *error)
{
    if (organisation_of(&s->place)->keeps_keys)
        return KSV_OK;
    return error_set(error, KSV_ERROR_UNSUPPORTED, s->directory,
                     "prefixes and ranges need an index with the organisation "
                     "sorted or btree, and this one is %s",
                     organisation_of(&s->place)->name);
}

ksv_status key_walk_open(key_walk *walk, index_snapshot *snapshot,
                         const ksv_range *range, ksv_error *error)
{
    memset(walk, 0, sizeof *walk);
    walk->allocator = &snapshot->allocator;
    buffer_init(&walk->gap, walk->allocator);
    buffer_init(&walk->key, walk->allocator);
    KSV_TRY(key_bounds_init(&walk->bounds, range, walk->allocator, error));
    KSV_TRY(require_keys(snapshot, error));
    KSV_TRY(lookup_session_open(&walk->session, snapshot, error));
    walk->has_session = true;
    KSV_TRY(snapshot_check_all_fresh(snapshot, walk->session.start_ns, error));
    walk->inputs = memory_zalloc_array(walk->allocator, snapshot->segment_count,
                                       sizeof *walk->inputs);
    if (walk->inputs == NULL)
        return error_set_memory(error);
    walk->input_count = snapshot->segment_count;
    for (size_t i = 0; i < walk->input_count; i++)
        KSV_TRY(open_input(walk, i, error));
    return key_copy(&walk->gap, key_of(&walk->bounds.low), error);
}

void key_walk_close(key_walk *walk)
{
    for (size_t i = 0; i < walk->input_count; i++)
        if (walk->inputs[i].cursor != NULL)
            walk->inputs[i].cursor->close(walk->inputs[i].cursor);
    memory_free(walk->allocator, walk->inputs,
                walk->input_count * sizeof *walk->inputs);
    if (walk->has_session)
        lookup_session_close(&walk->session);
    key_bounds_release(&walk->bounds);
    buffer_release(&walk->gap);
    buffer_release(&walk->key);
}

ksv_status key_walk_seek(key_walk *walk, ksv_key key, ksv_error *error)
{
    const key_bounds *b = &walk->bounds;
    if (!key_is_from_low(b, key))
        key = key_of(&b->low);
    else if (!key_is_below_high(b, key))
        key = key_of(&b->high);
    walk->direction = WALK_NOWHERE;
    walk->is_at_end = false;
    return key_copy(&walk->gap, key, error);
}

ksv_status key_walk_seek_end(key_walk *walk, ksv_error *error)
{
    if (walk->bounds.has_high)
        return key_walk_seek(walk, key_of(&walk->bounds.high), error);
    walk->direction = WALK_NOWHERE;
    walk->is_at_end = true;
    return KSV_OK;
}

static ksv_status turn_forward(key_walk *w, ksv_error *error)
{
    if (w->direction == WALK_FORWARD)
        return KSV_OK;
    w->direction = WALK_NOWHERE;
    for (size_t i = 0; i < w->input_count; i++) {
        w->inputs[i].is_at = false;
        if (!w->is_at_end)
            KSV_TRY(
                move(w, i, w->gap.size > 0 ? TABLE_SEEK : TABLE_FIRST, error));
    }
    w->direction = WALK_FORWARD;
    return KSV_OK;
}

static ksv_status turn_backward(key_walk *w, ksv_error *error)
{
    if (w->direction == WALK_BACKWARD)
        return KSV_OK;
    w->direction = WALK_NOWHERE;
    for (size_t i = 0; i < w->input_count; i++) {
        w->inputs[i].is_at = false;
        if (w->is_at_end || w->gap.size > 0)
            KSV_TRY(move(w, i, w->is_at_end ? TABLE_LAST : TABLE_SEEK_BEFORE,
                         error));
    }
    w->direction = WALK_BACKWARD;
    return KSV_OK;
}

/* The input with the first key, or the last one; NULL: all are at their end. */
static const walk_input *choose(const key_walk *w)
{
    bool forward = w->direction == WALK_FORWARD;
    const walk_input *best = NULL;
    for (size_t i = 0; i < w->input_count; i++) {
        const walk_input *input = &w->inputs[i];
        if (!input->is_at)
            continue;
        int order = best != NULL ? key_compare(key_at(input), key_at(best)) : 0;
        if (best == NULL || (forward ? order < 0 : order > 0))
            best = input;
    }
    return best;
}

/* Takes all entries of the key from one input. */
static ksv_status take_from(key_walk *w, size_t i, ksv_error *error)
{
    walk_input *input = &w->inputs[i];
    candidate_sink sink = {&w->session, i, 0, KSV_OK, error};
    table_move on = w->direction == WALK_FORWARD ? TABLE_NEXT : TABLE_PREVIOUS;
    while (input->is_at && key_compare(key_at(input), key_of(&w->key)) == 0) {
        lookup_take_candidate(&sink, input->cursor->entry.payload);
        KSV_TRY(sink.status);
        KSV_TRY(move(w, i, on, error));
    }
    return KSV_OK;
}

static ksv_status take_key(key_walk *w, const walk_input *from,
                           ksv_error *error)
{
    KSV_TRY(key_copy(&w->key, key_at(from), error));
    w->session.candidate_count = 0;
    for (size_t i = 0; i < w->input_count; i++)
        KSV_TRY(take_from(w, i, error));
    lookup_sort_candidates(w->session.candidates, w->session.candidate_count);
    return KSV_OK;
}

/* Where it stands after a failure is known, but not where the cursors are. */
static ksv_status settle(key_walk *w, ksv_status status)
{
    if (status != KSV_OK)
        w->direction = WALK_NOWHERE;
    return status;
}

static ksv_status go_forward(key_walk *w, bool *found, ksv_error *error)
{
    *found = false;
    KSV_TRY(turn_forward(w, error));
    while (!*found) {
        const walk_input *first = choose(w);
        if (first == NULL || !key_is_below_high(&w->bounds, key_at(first)))
            return KSV_OK;
        KSV_TRY(take_key(w, first, error));
        KSV_TRY(key_copy_next(&w->gap, key_of(&w->key), error));
        *found = w->session.candidate_count > 0;
    }
    return KSV_OK;
}

static ksv_status go_backward(key_walk *w, bool *found, ksv_error *error)
{
    *found = false;
    KSV_TRY(turn_backward(w, error));
    while (!*found) {
        const walk_input *last = choose(w);
        if (last == NULL || !key_is_from_low(&w->bounds, key_at(last)))
            return KSV_OK;
        KSV_TRY(take_key(w, last, error));
        KSV_TRY(key_copy(&w->gap, key_of(&w->key), error));
        w->is_at_end = false;
        *found = w->session.candidate_count > 0;
    }
    return KSV_OK;
}

ksv_status key_walk_next(key_walk *walk, bool *found, ksv_error *error)
{
    return settle(walk, go_forward(walk, found, error));
}

ksv_status key_walk_previous(key_walk *walk, bool *found, ksv_error *error)
{
    return settle(walk, go_backward(walk, found, error));
}

ksv_status key_walk_turn(key_walk *walk, ksv_error *error)
{
    bool to_front = walk->direction == WALK_FORWARD;
    walk->direction = WALK_NOWHERE;
    return to_front ? key_copy(&walk->gap, key_of(&walk->key), error)
                    : key_copy_next(&walk->gap, key_of(&walk->key), error);
}

ksv_status key_walk_read(key_walk *walk, size_t i, size_t key_number,
                         bool no_data, ksv_record_fn visit, void *ctx,
                         ksv_error *error)
{
    const lookup_candidate *candidate = &walk->session.candidates[i];
    lookup_request request = {.key = key_of(&walk->key),
                              .key_number = key_number,
                              .no_data = no_data,
                              .visit = visit,
                              .ctx = ctx};
    uint64_t hash = lookup_hash(&walk->session, request.key);
    uint64_t found = 0;
    KSV_TRY(lookup_try_candidates(&walk->session, &request, hash, candidate, 1,
                                  &found, &walk->receipt, error));
    if (found > 0)
        return KSV_OK;
    const catalog_file *file = snapshot_of(walk)->files[candidate->file].facts;
    return file_identity_error(file, FILE_IDENTITY_CHANGED, error);
}
