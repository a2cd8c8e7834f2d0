/* SPDX-License-Identifier: MIT */
/* The public lookups: arguments, snapshot, and the calls that do the work. */
#include <keysieve/index.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"
#include "lookup/batch_lookup.h"
#include "lookup/index_handle.h"
#include "lookup/linear_scan.h"
#include "lookup/lookup_session.h"
#include "lookup/record_source.h"

/* One call of a public function. */
typedef struct lookup_call {
    ksv_index *index;
    shared_snapshot *shared;
    lookup_session session;
    bool has_session;
    unsigned renewals;
} lookup_call;

static ksv_status open_session(lookup_call *call, ksv_error *error)
{
    ksv_status status =
        lookup_session_open(&call->session, call->shared->snapshot, error);
    call->has_session = status == KSV_OK;
    return status;
}

static void close_session(lookup_call *call)
{
    if (call->has_session)
        lookup_session_close(&call->session);
    call->has_session = false;
}

static void end_call(lookup_call *call)
{
    close_session(call);
    index_release(call->index, call->shared);
}

static ksv_status begin_call(lookup_call *call, ksv_index *index,
                             ksv_error *error)
{
    call->index = index;
    call->shared = index_acquire(index);
    ksv_status status = open_session(call, error);
    if (status != KSV_OK)
        end_call(call);
    return status;
}

/* Whether a call that failed can begin again in a newer state; otherwise it is
 * over. The session goes first, since it works on the old state. */
static bool continue_in_newer(lookup_call *call, ksv_status status)
{
    close_session(call);
    return index_renew(call->index, &call->shared, status, &call->renewals) &&
           open_session(call, NULL) == KSV_OK;
}

/* Looks one key up. Only as long as nothing was visited may it begin again. */
static ksv_status get_key(lookup_call *call, const lookup_request *request,
                          uint64_t *found, ksv_receipt *receipt,
                          ksv_error *error)
{
    for (;;) {
        memset(receipt, 0, sizeof *receipt);
        ksv_status status =
            lookup_key(&call->session, request, found, receipt, error);
        if (status == KSV_OK || *found > 0 || !continue_in_newer(call, status))
            return status;
    }
}

static ksv_status get_one(lookup_call *call, const lookup_request *request,
                          ksv_receipt *receipt, ksv_error *error)
{
    uint64_t found;
    KSV_TRY(get_key(call, request, &found, receipt, error));
    if (found == 0 && !request->visit(request->ctx, request->key_number, NULL))
        return error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    return KSV_OK;
}

static ksv_status has_one(lookup_call *call, ksv_key key, bool filters_only,
                          bool *found, ksv_receipt *receipt, ksv_error *error)
{
    if (!filters_only) {
        lookup_request request = {.key = key, .first_only = true};
        uint64_t count;
        ksv_status status = get_key(call, &request, &count, receipt, error);
        *found = count > 0;
        return status;
    }
    for (;;) {
        memset(receipt, 0, sizeof *receipt);
        ksv_status status =
            lookup_maybe(&call->session, key, found, receipt, error);
        if (status == KSV_OK || !continue_in_newer(call, status))
            return status;
    }
}

/* The keys that one call asks for, and what is done with them. */
typedef struct key_job {
    const ksv_key *keys;
    size_t count;
    bool filters_only;
    ksv_lookup_options options;
    ksv_record_fn visit; /* or NULL: `found` is filled */
    void *ctx;
    bool *found;
    ksv_receipt *sum;
    ksv_receipt *receipts;
} key_job;

static ksv_status answer_one(lookup_call *call, const key_job *job, size_t key,
                             ksv_receipt *receipt, ksv_error *error)
{
    if (job->visit == NULL)
        return has_one(call, job->keys[key], job->filters_only,
                       &job->found[key], receipt, error);
    lookup_request request = {.key = job->keys[key],
                              .key_number = key,
                              .first_only = job->options.first_only,
                              .no_data = job->options.no_data,
                              .visit = job->visit,
                              .ctx = job->ctx};
    return get_one(call, &request, receipt, error);
}

static ksv_status answer_one_by_one(lookup_call *call, const key_job *job,
                                    size_t first, size_t end, ksv_error *error)
{
    uint64_t start_ns = clock_monotonic_ns();
    for (size_t i = first; i < end; i++) {
        ksv_receipt receipt;
        ksv_status status = answer_one(call, job, i, &receipt, error);
        uint64_t end_ns = clock_monotonic_ns();
        receipt.elapsed_ns = end_ns - start_ns;
        start_ns = end_ns;
        lookup_add_receipt(job->sum, &receipt);
        if (job->receipts != NULL)
            job->receipts[i] = receipt;
        KSV_TRY(status);
    }
    return KSV_OK;
}

/* Answers some keys together; `*progress` tells how far that went. A failure
 * that is not told may be cured by asking for each key alone: it is that of
 * another key, or of a state that a build has replaced. */
static ksv_status answer_together(lookup_call *call, const key_job *job,
                                  size_t first, size_t end,
                                  batch_progress *progress, ksv_error *error)
{
    ksv_receipt unwanted = {0};
    lookup_batch batch = {
        .keys = job->keys + first,
        .count = end - first,
        .first_number = first,
        .first_only = job->options.first_only,
        .no_data = job->options.no_data,
        .filters_only = job->filters_only,
        .visit = job->visit,
        .ctx = job->ctx,
        .found = job->found != NULL ? job->found + first : NULL,
        .sum = job->sum != NULL ? job->sum : &unwanted,
        .receipts = job->receipts != NULL ? job->receipts + first : NULL};
    ksv_status status = batch_lookup(&call->session, &batch, progress, error);
    bool is_final = progress->is_begun || status == KSV_ERROR_MEMORY ||
                    status == KSV_ERROR_CANCELLED;
    return is_final ? status : KSV_OK;
}

/* Keys with very many records are looked up in smaller batches. */
#define SMALLER_BATCH 16

static ksv_status answer_all(lookup_call *call, const key_job *job,
                             ksv_error *error)
{
    size_t most =
        call->shared->snapshot->map_files ? BATCH_KEYS_MAPPED : BATCH_KEYS_MOST;
    for (size_t next = 0; next < job->count;) {
        size_t end = job->count - next > most ? next + most : job->count;
        batch_progress progress = {0, false, false};
        if (end - next >= BATCH_KEYS_LEAST)
            KSV_TRY(answer_together(call, job, next, end, &progress, error));
        if (progress.is_too_big) {
            most = (end - next) / SMALLER_BATCH + 1;
            continue;
        }
        next += progress.answered;
        KSV_TRY(answer_one_by_one(call, job, next, end, error));
        next = end;
    }
    return KSV_OK;
}

static ksv_status scan_all(lookup_call *call, const ksv_key *keys,
                           size_t key_count, const ksv_lookup_options *options,
                           ksv_record_fn visit, void *ctx, ksv_receipt *sum,
                           ksv_error *error)
{
    ksv_receipt receipt;
    memset(&receipt, 0, sizeof receipt);
    uint64_t start_ns = clock_monotonic_ns();
    ksv_status status = linear_scan(call->shared->snapshot, keys, key_count,
                                    options, visit, ctx, &receipt, error);
    receipt.elapsed_ns = clock_monotonic_ns() - start_ns;
    lookup_add_receipt(sum, &receipt);
    return status;
}

ksv_status ksv_get(ksv_index *index, const ksv_key *keys, size_t key_count,
                   const ksv_lookup_options *options, ksv_record_fn visit,
                   void *ctx, ksv_receipt *receipt, ksv_receipt *receipts,
                   ksv_error *error)
{
    key_job job = {.keys = keys,
                   .count = key_count,
                   .visit = visit,
                   .ctx = ctx,
                   .sum = receipt,
                   .receipts = receipts};
    if (options != NULL)
        job.options = *options;
    if (receipts != NULL)
        memset(receipts, 0, key_count * sizeof *receipts);
    lookup_call call = {0};
    KSV_TRY(begin_call(&call, index, error));
    ksv_status status = job.options.linear_scan
                            ? scan_all(&call, keys, key_count, &job.options,
                                       visit, ctx, receipt, error)
                            : answer_all(&call, &job, error);
    end_call(&call);
    return status;
}

typedef struct first_copy {
    void *buffer;
    size_t capacity_bytes;
    uint64_t *length;
    bool *found;
    ksv_status status;
    ksv_error *error;
} first_copy;

static bool copy_first(void *ctx, size_t key_number, const ksv_record *record)
{
    (void)key_number;
    first_copy *copy = ctx;
    if (record == NULL)
        return true;
    *copy->found = true;
    *copy->length = record->length;
    size_t room = copy->capacity_bytes;
    if (room > record->length)
        room = (size_t)record->length;
    size_t got;
    if (room == 0)
        return true; /* `buffer` may be NULL */
    if (record->data != NULL)
        memcpy(copy->buffer, record->data, room);
    else
        copy->status =
            ksv_record_read(record, 0, copy->buffer, room, &got, copy->error);
    return true;
}

ksv_status ksv_get_first(ksv_index *index, const void *key, size_t key_bytes,
                         void *buffer, size_t capacity_bytes, uint64_t *length,
                         bool *found, ksv_receipt *receipt, ksv_error *error)
{
    *found = false;
    *length = 0;
    const ksv_key asked = {key, key_bytes};
    const ksv_lookup_options options = {.first_only = true};
    first_copy copy = {buffer, capacity_bytes, length, found, KSV_OK, error};
    KSV_TRY(ksv_get(index, &asked, 1, &options, copy_first, &copy, receipt,
                    NULL, error));
    return copy.status;
}

ksv_status ksv_has(ksv_index *index, const ksv_key *keys, size_t key_count,
                   bool filters_only, bool *found, ksv_receipt *receipt,
                   ksv_receipt *receipts, ksv_error *error)
{
    key_job job = {.keys = keys,
                   .count = key_count,
                   .filters_only = filters_only,
                   .options = {.first_only = true},
                   .found = found,
                   .sum = receipt,
                   .receipts = receipts};
    if (receipts != NULL)
        memset(receipts, 0, key_count * sizeof *receipts);
    lookup_call call = {0};
    KSV_TRY(begin_call(&call, index, error));
    ksv_status status = answer_all(&call, &job, error);
    end_call(&call);
    return status;
}

ksv_status ksv_record_read(const ksv_record *record, uint64_t position,
                           void *buffer, size_t size_bytes, size_t *got_bytes,
                           ksv_error *error)
{
    *got_bytes = 0;
    const lookup_source *source = record->source;
    if (source == NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, record->file,
                         "this record cannot be read");
    if (position >= source->length)
        return KSV_OK;
    if (size_bytes > source->length - position)
        size_bytes = (size_t)(source->length - position);
    datafile_cost cost = {0, 0, 0};
    ksv_status status =
        datafile_read_at(source->data, source->offset + position, buffer,
                         size_bytes, got_bytes, &cost, error);
    lookup_add_cost(source->receipt, &cost);
    if (status == KSV_OK && *got_bytes == size_bytes)
        return KSV_OK;
    if (status == KSV_OK)
        status = error_set(error, KSV_ERROR_STALE, NULL,
                           "changed while a record of it was read");
    bool is_damage = status == KSV_ERROR_CORRUPT;
    if (!is_damage)
        error_replace_path(error, source->given_path);
    error_add_remedy(error, is_damage ? KSV_REMEDY_BUILD : KSV_REMEDY_UPDATE);
    return status;
}

ksv_status ksv_index_keys(ksv_index *index, ksv_record_fn visit, void *ctx,
                          ksv_error *error)
{
    shared_snapshot *shared = index_acquire(index);
    unsigned renewals = 0;
    ksv_status status;
    do
        status = snapshot_check_all_fresh(shared->snapshot,
                                          clock_monotonic_ns(), error);
    while (status != KSV_OK && index_renew(index, &shared, status, &renewals));
    if (status == KSV_OK)
        status = linear_keys(shared->snapshot, visit, ctx, error);
    index_release(index, shared);
    return status;
}
