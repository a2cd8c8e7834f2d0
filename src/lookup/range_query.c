/* SPDX-License-Identifier: MIT */
/* The records of a range of keys. */
#include <keysieve/range.h>

#include <string.h>

#include "base/error.h"
#include "io/file.h"
#include "lookup/index_handle.h"
#include "lookup/key_walk.h"
#include "lookup/linear_range.h"
#include "lookup/range_visit.h"

/* What the index alone tells of a record. */
static ksv_status visit_entry(const key_walk *w, size_t number, range_visit *v,
                              ksv_error *error)
{
    const lookup_candidate *c = &w->session.candidates[number];
    const index_snapshot *s = w->session.snapshot;
    ksv_record record = {.key = w->key.data,
                         .key_bytes = w->key.size,
                         .file = s->files[c->file].facts->given_path,
                         .offset = c->offset};
    if (!v->visit(v->ctx, v->keys, &record))
        return error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    return KSV_OK;
}

/* The key that the walk went over last. */
static ksv_status visit_key(key_walk *w, range_visit *v, ksv_error *error)
{
    size_t count = w->session.candidate_count;
    size_t number = 0;
    for (size_t turn = 0; range_visit_choose(v, count, turn, &number); turn++) {
        v->records++;
        KSV_TRY(v->options.index_only
                    ? visit_entry(w, number, v, error)
                    : key_walk_read(w, number, v->keys, v->options.no_data,
                                    v->visit, v->ctx, error));
    }
    v->keys++;
    w->receipt.found++;
    return KSV_OK;
}

static ksv_status visit_all(key_walk *w, range_visit *v, ksv_error *error)
{
    if (v->options.reverse)
        KSV_TRY(key_walk_seek_end(w, error));
    while (!range_visit_is_full(v)) {
        bool found;
        KSV_TRY(v->options.reverse ? key_walk_previous(w, &found, error)
                                   : key_walk_next(w, &found, error));
        if (!found)
            return KSV_OK;
        KSV_TRY(visit_key(w, v, error));
    }
    return KSV_OK;
}

static ksv_status run(index_snapshot *snapshot, const ksv_range *range,
                      range_visit *v, ksv_receipt *receipt, ksv_error *error)
{
    if (v->options.linear_scan)
        return linear_range(snapshot, range, v, receipt, error);
    key_walk walk;
    ksv_status status = key_walk_open(&walk, snapshot, range, error);
    if (status == KSV_OK)
        status = visit_all(&walk, v, error);
    *receipt = walk.receipt;
    key_walk_close(&walk);
    return status;
}

ksv_status ksv_get_range(ksv_index *index, const ksv_range *range,
                         const ksv_range_options *options, ksv_record_fn visit,
                         void *ctx, ksv_receipt *receipt, ksv_error *error)
{
    range_visit v = {.visit = visit, .ctx = ctx};
    if (options != NULL)
        v.options = *options;
    uint64_t start_ns = clock_monotonic_ns();
    shared_snapshot *shared = index_acquire(index);
    unsigned renewals = 0;
    ksv_receipt cost;
    ksv_status status;
    do {
        memset(&cost, 0, sizeof cost);
        status = run(shared->snapshot, range, &v, &cost, error);
    } while (status != KSV_OK && v.records == 0 &&
             index_renew(index, &shared, status, &renewals));
    index_release(index, shared);
    cost.keys = cost.found;
    cost.elapsed_ns = clock_monotonic_ns() - start_ns;
    lookup_add_receipt(receipt, &cost);
    return status;
}
