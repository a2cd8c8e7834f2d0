/* SPDX-License-Identifier: MIT */
/* Looks many keys up together and answers them in order. */
#include "lookup/batch_lookup.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/prefetch.h"
#include "io/file.h"
#include "lookup/batch_run.h"

/* Reads are shared only among so many keys that it is worth it. */
#define SHARING_KEYS_LEAST 16

/* How much of a record is asked for ahead. */
#define PREFETCH_LINES 3

static ksv_status reserve_items(const batch_run *run, batch_item **items,
                                size_t *capacity, size_t wanted,
                                ksv_error *error)
{
    void *moved = *items;
    ksv_status status = memory_grow(run->allocator, &moved, capacity, wanted,
                                    sizeof **items, error);
    *items = moved;
    return status;
}

ksv_status batch_expect_items(batch_run *run, ksv_error *error)
{
    size_t more = 0;
    for (size_t i = 0; i < run->batch->count; i++)
        more += run->maybe[i];
    return reserve_items(run, &run->items, &run->item_capacity,
                         run->item_count + more, error);
}

ksv_status batch_add_item(batch_run *run, uint64_t place, uint32_t owner,
                          uint32_t source, ksv_error *error)
{
    if (run->item_count == run->item_capacity)
        KSV_TRY(reserve_items(run, &run->items, &run->item_capacity,
                              run->item_count + 1, error));
    run->items[run->item_count++] = (batch_item){place, owner, source};
    return KSV_OK;
}

ksv_status batch_sort_items(batch_run *run, size_t from, ksv_error *error)
{
    size_t count = run->item_count - from;
    KSV_TRY(
        reserve_items(run, &run->spare, &run->spare_capacity, count, error));
    if (count > 0)
        batch_sort(run->items + from, run->spare, count);
    return KSV_OK;
}

ksv_status batch_make_parts(batch_run *run, ksv_error *error)
{
    void *items = run->parts;
    ksv_status status = memory_grow(run->allocator, &items, &run->part_capacity,
                                    run->item_count, sizeof *run->parts, error);
    run->parts = items;
    return status;
}

static ksv_status open_run(batch_run *run, lookup_session *session,
                           const lookup_batch *batch, ksv_error *error)
{
    const ksv_allocator *a = &session->snapshot->allocator;
    size_t count = batch->count;
    memset(run, 0, sizeof *run);
    run->session = session;
    run->batch = batch;
    run->allocator = a;
    run->shares = batch->receipts == NULL && count >= SHARING_KEYS_LEAST;
    read_wave_init(&run->wave, session->snapshot->fs, a, BATCH_WAVE_BYTES,
                   BATCH_WAVE_PADDING_BYTES);
    run->hashes = memory_alloc(a, count * sizeof *run->hashes);
    run->maybe = memory_alloc(a, count * sizeof *run->maybe);
    run->starts = memory_alloc(a, (count + 1) * sizeof *run->starts);
    return run->hashes != NULL && run->maybe != NULL && run->starts != NULL
               ? KSV_OK
               : error_set_memory(error);
}

static void close_run(batch_run *run)
{
    const ksv_allocator *a = run->allocator;
    size_t count = run->batch->count;
    memory_free(a, run->hashes, count * sizeof *run->hashes);
    memory_free(a, run->maybe, count * sizeof *run->maybe);
    memory_free(a, run->starts, (count + 1) * sizeof *run->starts);
    memory_free(a, run->items, run->item_capacity * sizeof *run->items);
    memory_free(a, run->spare, run->spare_capacity * sizeof *run->spare);
    memory_free(a, run->copies, run->copy_capacity * sizeof *run->copies);
    memory_free(a, run->parts, run->part_capacity * sizeof *run->parts);
    if (run->checked_files != NULL)
        memory_free(a, run->checked_files,
                    run->session->snapshot->state.file_count);
    read_wave_close(&run->wave);
}

/* Hands the answer over; false ends the call. */
static bool tell(const lookup_batch *batch, size_t key, bool is_found)
{
    if (batch->visit == NULL)
        batch->found[key] = is_found;
    else if (!is_found)
        return batch->visit(batch->ctx, batch->first_number + key, NULL);
    return true;
}

/* Not found is told only when no data file has changed; that is looked at once
 * a batch. */
static ksv_status finish_key(batch_run *run, size_t key, bool is_found,
                             bool *are_fresh, ksv_error *error)
{
    if (!is_found && run->batch->keys[key].bytes > 0 && !*are_fresh) {
        KSV_TRY(snapshot_check_all_fresh(run->session->snapshot,
                                         run->session->start_ns, error));
        *are_fresh = true;
    }
    if (is_found && run->batch->visit != NULL && !run->batch->first_only)
        lookup_warn_of_changes(run->session);
    ksv_receipt *receipt = batch_receipt(run, key);
    receipt->keys++;
    receipt->found += is_found;
    if (!tell(run->batch, key, is_found))
        return error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    return KSV_OK;
}

static ksv_status answer_key(batch_run *run, size_t key, uint64_t *found,
                             ksv_error *error)
{
    const lookup_batch *batch = run->batch;
    lookup_request request = {.key = batch->keys[key],
                              .key_number = batch->first_number + key,
                              .first_only = batch->first_only,
                              .no_data = batch->no_data,
                              .visit = batch->visit,
                              .ctx = batch->ctx};
    size_t from = run->starts[key];
    *found = 0;
    return lookup_try_candidates(
        run->session, &request, run->hashes[key], run->ordered + from,
        run->starts[key + 1] - from, found, batch_receipt(run, key), error);
}

/* The first one of a key, if its bytes are in memory; or NULL. */
static const lookup_candidate *first_candidate(const batch_run *run, size_t key)
{
    const lookup_candidate *c = &run->ordered[run->starts[key]];
    return run->starts[key] < run->starts[key + 1] && c->bytes != NULL ? c
                                                                       : NULL;
}

/* Asks for the data of the group of keys from `first` on. */
static void prefetch_data(const batch_run *run, size_t first, size_t end)
{
    for (size_t key = first; key < first + BATCH_GROUP && key < end; key++) {
        const lookup_candidate *c = first_candidate(run, key);
        for (size_t line = 0; c != NULL && line < PREFETCH_LINES; line++)
            MEMORY_PREFETCH(c->bytes + 64 * line);
    }
}

/* The answers of the keys whose data was read. */
static ksv_status answer_keys(batch_run *run, size_t end, bool *are_fresh,
                              batch_progress *progress, ksv_error *error)
{
    size_t first = progress->answered;
    prefetch_data(run, first, end);
    for (size_t *next = &progress->answered; *next < end; ++*next) {
        uint64_t found;
        if ((*next - first) % BATCH_GROUP == 0)
            prefetch_data(run, *next + BATCH_GROUP, end);
        ksv_status status = answer_key(run, *next, &found, error);
        progress->is_begun = status != KSV_OK && found > 0;
        KSV_TRY(status);
        KSV_TRY(finish_key(run, *next, found > 0, are_fresh, error));
    }
    return KSV_OK;
}

static ksv_status run_lookups(batch_run *run, batch_progress *progress,
                              ksv_error *error)
{
    bool are_fresh = false;
    KSV_TRY(batch_find_candidates(run, &progress->is_too_big, error));
    if (run->session->snapshot->map_files && !progress->is_too_big)
        KSV_TRY(batch_map_data(run, error));
    while (!progress->is_too_big && progress->answered < run->batch->count) {
        size_t end;
        KSV_TRY(batch_read_data(run, progress->answered, &end, error));
        KSV_TRY(answer_keys(run, end, &are_fresh, progress, error));
    }
    return KSV_OK;
}

static ksv_status run_filters(batch_run *run, batch_progress *progress,
                              ksv_error *error)
{
    bool are_fresh = false;
    KSV_TRY(batch_ask_filters_only(run, error));
    for (size_t *next = &progress->answered; *next < run->batch->count; ++*next)
        KSV_TRY(finish_key(run, *next, run->batch->found[*next], &are_fresh,
                           error));
    return KSV_OK;
}

/* The time, and with receipts of keys their sum. */
static void finish_receipts(const lookup_batch *batch,
                            const batch_progress *progress, uint64_t start_ns)
{
    uint64_t elapsed_ns = clock_monotonic_ns() - start_ns;
    if (batch->receipts == NULL) {
        batch->sum->elapsed_ns += elapsed_ns;
        return;
    }
    for (size_t i = 0; i < batch->count; i++) {
        batch->receipts[i].elapsed_ns += elapsed_ns / batch->count;
        lookup_add_receipt(batch->sum, &batch->receipts[i]);
    }
    memset(batch->receipts + progress->answered, 0,
           (batch->count - progress->answered) * sizeof *batch->receipts);
}

ksv_status batch_lookup(lookup_session *session, const lookup_batch *batch,
                        batch_progress *progress, ksv_error *error)
{
    uint64_t start_ns = clock_monotonic_ns();
    batch_run run;
    *progress = (batch_progress){0, false, false};
    ksv_status status = open_run(&run, session, batch, error);
    for (size_t i = 0; i < batch->count && status == KSV_OK; i++)
        run.hashes[i] = lookup_hash(session, batch->keys[i]);
    if (status == KSV_OK)
        status = batch->filters_only ? run_filters(&run, progress, error)
                                     : run_lookups(&run, progress, error);
    close_run(&run);
    finish_receipts(batch, progress, start_ns);
    return status;
}
