/* SPDX-License-Identifier: MIT */
/* Keys that are offered: options, time, batches, what it cost. */
#include <keysieve/dedup.h>

#include <string.h>

#include "base/error.h"
#include "dedup/dedup_private.h"
#include "dedup/dedup_state.h"
#include "hash/hash.h"
#include "io/file.h"

#define MEMORY_DEFAULT ((uint64_t)1 << 30)
#define MEMORY_LEAST ((uint64_t)16 << 20)
#define FPR_DEFAULT 0.001
#define GENERATIONS_DEFAULT 8
#define NS_A_MS 1000000

/* Sums and differences of times never overflow. */
#define TIME_FIRST (INT64_MIN / 4)
#define TIME_LAST (INT64_MAX / 4)

void ksv_dedup_options_init(ksv_dedup_options *options)
{
    memset(options, 0, sizeof *options);
}

static ksv_status check_options(const ksv_dedup_options *o, ksv_error *error)
{
    if (o->window_ms < 0 || o->window_ms > INT64_MAX / 4)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "the window is out of range");
    if (o->generations > GENERATIONS_SLICES_MAX)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a window has up to %d generations, not %u",
                         GENERATIONS_SLICES_MAX, o->generations);
    if (o->approximate && o->expected_keys == 0)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "how many keys to expect is not known");
    if (o->approximate && o->fpr != 0 && !(o->fpr > 0 && o->fpr < 1))
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "false-positive rate %g is not between 0 and 1",
                         o->fpr);
    if (o->time_key != NULL && o->format == NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a key of the time goes with a format");
    if (o->time_key != NULL && o->window_ms == 0)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a key of the time goes with a window");
    return KSV_OK;
}

static void take_options(ksv_dedup *d, const ksv_dedup_options *given)
{
    ksv_dedup_options *o = &d->options;
    *o = *given;
    if (o->memory_bytes == 0)
        o->memory_bytes = MEMORY_DEFAULT;
    if (o->memory_bytes < MEMORY_LEAST)
        o->memory_bytes = MEMORY_LEAST;
    if (o->fpr == 0)
        o->fpr = FPR_DEFAULT;
    if (o->generations == 0)
        o->generations = GENERATIONS_DEFAULT;
    d->fs = given->file_system != NULL ? given->file_system
                                       : ksv_posix_file_system();
}

static ksv_status make_specs(ksv_dedup *d, const ksv_dedup_options *given,
                             ksv_error *error)
{
    if (given->format == NULL)
        return KSV_OK;
    KSV_TRY(scan_spec_create(given->format, &d->allocator, &d->spec, error));
    if (given->time_key == NULL)
        return KSV_OK;
    ksv_format_options format = *given->format;
    format.keys = &given->time_key;
    format.key_count = 1;
    return scan_spec_create(&format, &d->allocator, &d->time_spec, error);
}

ksv_status dedup_open_engine(ksv_dedup *d, const char *directory, bool is_kept,
                             ksv_error *error)
{
    const ksv_dedup_options *o = &d->options;
    int64_t slice_ms = o->window_ms / o->generations;
    if (o->approximate) {
        generations_options options = {
            .window_ms = o->window_ms,
            .slices = o->generations,
            .expected_keys = o->expected_keys,
            .fpr = o->fpr,
            .allocator = &d->allocator,
        };
        return generations_open(&options, &d->filters, error);
    }
    run_set_options options = {
        .fs = d->fs,
        .directory = directory,
        .is_kept = is_kept,
        .hasher = d->hasher,
        .memory_bytes = o->memory_bytes,
        .window_ms = o->window_ms,
        .slice_ms = slice_ms > 0 ? slice_ms : 1,
        .next_number = &d->next_number,
        .allocator = &d->allocator,
    };
    return exact_keys_open(&options, &d->exact, error);
}

static ksv_status open_dedup(ksv_dedup *d, const ksv_dedup_options *given,
                             ksv_error *error)
{
    KSV_TRY(make_specs(d, given, error));
    if (given->state_directory != NULL)
        return dedup_state_open(d, given->state_directory, error);
    d->hasher.kind = given->hash != 0 ? given->hash : KSV_HASH_XXH3;
    hash_random_id(d->hasher.key);
    return dedup_open_engine(d, given->spill_directory, false, error);
}

ksv_status ksv_dedup_open(const ksv_dedup_options *options, ksv_dedup **dedup,
                          ksv_error *error)
{
    *dedup = NULL;
    KSV_TRY(check_options(options, error));
    ksv_allocator a = allocator_or_default(options->allocator);
    ksv_dedup *d = memory_zalloc(&a, sizeof *d);
    if (d == NULL)
        return error_set_memory(error);
    d->allocator = a;
    take_options(d, options);
    ksv_status status = open_dedup(d, options, error);
    if (status != KSV_OK) {
        ksv_dedup_close(d);
        return status;
    }
    *dedup = d;
    return KSV_OK;
}

void ksv_dedup_close(ksv_dedup *d)
{
    if (d == NULL)
        return;
    ksv_allocator a = d->allocator;
    if (d->state != NULL && !d->failed)
        dedup_state_finish(d->state);
    exact_keys_close(d->exact);
    generations_close(d->filters);
    dedup_state_close(d->state);
    scan_spec_destroy(d->spec);
    scan_spec_destroy(d->time_spec);
    memory_free(&a, d, sizeof *d);
}

/* The time of the stream when a key of that time comes. */
static int64_t stream_time(ksv_dedup *d, int64_t time_ms)
{
    if (d->options.window_ms == 0)
        return 0;
    if (time_ms == KSV_DEDUP_TIME_NOW)
        time_ms = clock_realtime_ns() / NS_A_MS;
    else if (time_ms == KSV_DEDUP_TIME_LATEST)
        return d->has_time ? d->stream_ms : TIME_FIRST;
    if (time_ms < TIME_FIRST)
        time_ms = TIME_FIRST;
    if (time_ms > TIME_LAST)
        time_ms = TIME_LAST;
    if (!d->has_time || time_ms > d->stream_ms) {
        d->has_time = true;
        d->stream_ms = time_ms;
    }
    d->late += d->stream_ms - time_ms >= d->options.window_ms;
    return d->stream_ms;
}

static ksv_status decide_by_filters(ksv_dedup *d, size_t count, bool *fresh,
                                    ksv_error *error)
{
    for (size_t i = 0; i < count; i++)
        d->items[i] = (window_item){d->keys[i].hash, d->keys[i].time_ms};
    return generations_decide(d->filters, d->items, count, fresh, error);
}

static ksv_status decide(ksv_dedup *d, const ksv_dedup_key *keys, size_t count,
                         bool *fresh, ksv_error *error)
{
    for (size_t i = 0; i < count; i++) {
        d->keys[i] = (offered_key){
            .key = keys[i].data,
            .key_bytes = keys[i].bytes,
            .hash = ksv_hash(&d->hasher, keys[i].data, keys[i].bytes),
            .time_ms = stream_time(d, keys[i].time_ms),
        };
    }
    if (d->exact != NULL)
        KSV_TRY(exact_keys_decide(d->exact, d->keys, count, fresh, error));
    else
        KSV_TRY(decide_by_filters(d, count, fresh, error));
    d->offered += count;
    for (size_t i = 0; i < count; i++)
        d->passed += fresh[i];
    if (d->state == NULL)
        return KSV_OK;
    return dedup_state_note(d->state, d->keys, fresh, count, error);
}

static ksv_status failed_before(const ksv_dedup *d, ksv_error *error)
{
    if (error != NULL)
        *error = d->failure;
    return d->failure.status;
}

/* After a failure nobody knows what is in memory and what is not. */
static ksv_status keep_failure(ksv_dedup *d, ksv_status status,
                               ksv_error *error)
{
    if (status == KSV_OK)
        return KSV_OK;
    d->failed = true;
    if (error != NULL)
        *error = d->failure;
    return status;
}

ksv_status ksv_dedup_offer_batch(ksv_dedup *d, const ksv_dedup_key *keys,
                                 size_t count, bool *fresh, ksv_error *error)
{
    if (d->failed)
        return failed_before(d, error);
    for (size_t done = 0; done < count;) {
        size_t n = count - done < DEDUP_BATCH ? count - done : DEDUP_BATCH;
        ksv_status status =
            decide(d, keys + done, n, fresh + done, &d->failure);
        KSV_TRY(keep_failure(d, status, error));
        done += n;
    }
    return KSV_OK;
}

ksv_status ksv_dedup_offer(ksv_dedup *d, const void *key, size_t key_bytes,
                           int64_t time_ms, bool *fresh, ksv_error *error)
{
    ksv_dedup_key one = {key, key_bytes, time_ms};
    return ksv_dedup_offer_batch(d, &one, 1, fresh, error);
}

ksv_status dedup_note_passed(ksv_dedup *d, const offered_key *key,
                             ksv_error *error)
{
    window_item item = {key->hash, key->time_ms};
    if (d->exact != NULL)
        return exact_keys_note(d->exact, key, error);
    return generations_note(d->filters, &item, error);
}

ksv_status ksv_dedup_checkpoint(ksv_dedup *d, ksv_error *error)
{
    if (d->failed)
        return failed_before(d, error);
    if (d->state == NULL)
        return KSV_OK;
    return keep_failure(d, dedup_state_commit(d->state, &d->failure), error);
}

static void add_exact_info(const ksv_dedup *d, ksv_dedup_info *info)
{
    run_set_cost cost;
    run_set_get_cost(exact_keys_runs(d->exact), &cost);
    info->memory_bytes = exact_keys_memory_bytes(d->exact);
    info->disk_keys = cost.entries;
    info->disk_bytes = cost.disk_bytes;
    info->runs = run_set_count(exact_keys_runs(d->exact));
    info->pages_read = cost.pages_read;
    info->disk_bytes_written = cost.bytes_written;
}

static void add_approximate_info(const ksv_dedup *d, ksv_dedup_info *info)
{
    ksv_filter_plan plan;
    uint64_t capacity;
    generations_shape(d->filters, &plan, &capacity);
    info->memory_bytes = generations_memory_bytes(d->filters);
    info->generations = generations_count(d->filters);
    for (size_t i = 0; i < info->generations; i++)
        info->filter_keys += generations_get(d->filters, i)->keys;
    info->filter_capacity =
        capacity * (d->options.window_ms > 0 ? d->options.generations + 1 : 1);
    info->fpr = generations_worst_rate(d->filters);
}

void ksv_dedup_get_info(const ksv_dedup *d, ksv_dedup_info *info)
{
    *info = (ksv_dedup_info){
        .offered = d->offered,
        .passed = d->passed,
        .late = d->late,
        .stream_time_ms = d->stream_ms,
    };
    if (d->exact != NULL)
        add_exact_info(d, info);
    else
        add_approximate_info(d, info);
}
