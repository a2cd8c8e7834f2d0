/* SPDX-License-Identifier: MIT */
/* Filters asked for many keys at once. */
#include <string.h>

#include "base/error.h"
#include "lookup/batch_run.h"

ksv_status batch_ask_filter(batch_run *run, size_t segment, size_t count,
                            bool *has_answered, ksv_receipt *receipt,
                            ksv_error *error)
{
    index_snapshot *s = run->session->snapshot;
    ksv_filter *filter;
    ksv_error problem;
    error_clear(&problem);
    KSV_TRY(snapshot_filter(s, segment, &filter, receipt, error));
    *has_answered = filter != NULL;
    ksv_status status = KSV_OK;
    if (filter != NULL)
        status = ksv_filter_may_contain_batch(filter, run->hashes, count,
                                              run->maybe, &problem);
    if (status == KSV_ERROR_MEMORY)
        return error_set_memory(error);
    if (status != KSV_OK)
        KSV_TRY(snapshot_filter_failed(s, segment, &problem, error));
    if (filter == NULL || status != KSV_OK)
        memset(run->maybe, 1, count * sizeof *run->maybe);
    return KSV_OK;
}

/* The items are the keys that no filter has known yet. */
static ksv_status list_keys(batch_run *run, ksv_error *error)
{
    const lookup_batch *batch = run->batch;
    for (size_t i = 0; i < batch->count; i++) {
        batch->found[i] = false;
        if (batch->keys[i].bytes > 0)
            KSV_TRY(batch_add_item(run, run->hashes[i], (uint32_t)i, 0, error));
    }
    return KSV_OK;
}

static void take_answers(batch_run *run, bool has_answered)
{
    size_t left = 0;
    for (size_t i = 0; i < run->item_count; i++) {
        batch_item item = run->items[i];
        ksv_receipt *receipt = batch_receipt(run, item.owner);
        receipt->filter_probes += has_answered;
        receipt->filter_positives += has_answered && run->maybe[i];
        if (run->maybe[i])
            run->batch->found[item.owner] = true;
        else
            run->items[left++] = item;
    }
    run->item_count = left;
}

ksv_status batch_ask_filters_only(batch_run *run, ksv_error *error)
{
    KSV_TRY(list_keys(run, error));
    size_t segments = run->session->snapshot->segment_count;
    for (size_t s = 0; s < segments && run->item_count > 0; s++) {
        bool has_answered;
        for (size_t i = 0; i < run->item_count; i++)
            run->hashes[i] = run->items[i].place;
        KSV_TRY(batch_ask_filter(run, s, run->item_count, &has_answered,
                                 batch_receipt(run, run->items[0].owner),
                                 error));
        take_answers(run, has_answered);
    }
    return KSV_OK;
}
