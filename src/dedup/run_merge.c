/* SPDX-License-Identifier: MIT */
/* Writes a run out of keys in memory or out of other runs. */
#include "dedup/run_merge.h"

#include "base/error.h"
#include "base/memory.h"

#define CURSOR_BYTES ((size_t)128 << 10)

void run_source_init_keys(run_source *source, const ksv_allocator *allocator,
                          int64_t forgotten_ms, recent_keys *keys)
{
    *source = (run_source){
        .allocator = allocator, .forgotten_ms = forgotten_ms, .keys = keys};
}

void run_source_init_merge(run_source *source, const ksv_allocator *allocator,
                           int64_t forgotten_ms)
{
    run_source_init_keys(source, allocator, forgotten_ms, NULL);
}

ksv_status run_source_add_run(run_source *source, key_run *run,
                              ksv_error *error)
{
    void *items = source->runs;
    ksv_status status =
        memory_grow(source->allocator, &items, &source->run_capacity,
                    source->run_count + 1, sizeof(*source->runs), error);
    source->runs = items;
    KSV_TRY(status);
    source->runs[source->run_count++] = run;
    memory_filter_release(&run->filter, &run->allocator);
    return KSV_OK;
}

void run_source_release(run_source *source)
{
    memory_free(source->allocator, source->runs,
                source->run_capacity * sizeof(*source->runs));
}

/* What is known of the run before it is written. */
typedef struct run_outlook {
    uint64_t entries;
    uint64_t bytes;
    int64_t base_time_ms;
    uint32_t level;
} run_outlook;

static ksv_status find_base_time(void *ctx, const recent_key *key,
                                 ksv_error *error)
{
    int64_t *base = ctx;
    (void)error;
    if (key->time_ms < *base)
        *base = key->time_ms;
    return KSV_OK;
}

static run_outlook look_at_runs(const run_source *source)
{
    run_outlook outlook = {.base_time_ms = INT64_MAX};
    for (size_t i = 0; i < source->run_count; i++) {
        const run_info *info = &source->runs[i]->info;
        outlook.entries += info->entries;
        outlook.bytes += info->pages * info->page_bytes;
        if (info->base_time_ms < outlook.base_time_ms)
            outlook.base_time_ms = info->base_time_ms;
        if (info->level >= outlook.level)
            outlook.level = info->level + 1;
    }
    return outlook;
}

/* Times are stored as what they are after the earliest one. */
static ksv_status look_at_keys(const run_source *source, run_outlook *outlook,
                               ksv_error *error)
{
    *outlook = (run_outlook){
        .entries = recent_keys_count(source->keys),
        .bytes = recent_keys_memory_bytes(source->keys),
        .base_time_ms = INT64_MAX,
    };
    if (source->forgotten_ms == INT64_MIN)
        return KSV_OK; /* without a window all times are 0 */
    return recent_keys_visit(source->keys, find_base_time,
                             &outlook->base_time_ms, error);
}

/* The lowest rate that there is memory for: small runs, of which there are
 * many, get a lower one than large ones. None is left when even the highest
 * takes too much: then every key is looked for on disk. */
static ksv_status plan_filter(const run_plan *plan, const run_outlook *outlook,
                              run_writer_options *options, ksv_error *error)
{
    static const double rates[] = {0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3};
    uint64_t left = plan->memory_bytes > plan->used_bytes
                        ? plan->memory_bytes - plan->used_bytes
                        : 0;
    uint32_t first = outlook->level < 2 ? outlook->level : 2;
    for (size_t i = first; i < sizeof rates / sizeof rates[0]; i++) {
        ksv_filter_plan filter;
        KSV_TRY(ksv_filter_make_plan(outlook->entries, rates[i], 64, &filter,
                                     error));
        if (filter.bits / 8 > left / 4 * 3)
            continue;
        options->filter_blocks = filter.blocks;
        options->filter_functions = filter.hash_functions;
        return KSV_OK;
    }
    return KSV_OK;
}

/* Pages large enough that their fences do not fill the memory. */
static uint32_t choose_page_bytes(const run_plan *plan,
                                  const run_outlook *outlook)
{
    uint64_t most = plan->memory_bytes / 16;
    uint32_t page_bytes = RUN_PAGE_BYTES_MIN;
    while (page_bytes < RUN_PAGE_BYTES_MAX &&
           outlook->bytes / page_bytes * 8 > most)
        page_bytes *= 2;
    return page_bytes;
}

typedef struct key_taker {
    run_writer *writer;
    int64_t forgotten_ms;
} key_taker;

static ksv_status take_key(void *ctx, const recent_key *key, ksv_error *error)
{
    key_taker *taker = ctx;
    if (key->on_disk || key->time_ms <= taker->forgotten_ms)
        return KSV_OK;
    return run_writer_add(taker->writer, key->hash, key->time_ms, key->key,
                          key->key_bytes, error);
}

/* A run being merged. */
typedef struct merge_input {
    run_cursor *cursor;
    const run_entry *entry; /* the next one, or NULL */
} merge_input;

static ksv_status open_inputs(const run_source *source, merge_input *inputs,
                              ksv_error *error)
{
    for (size_t i = 0; i < source->run_count; i++) {
        KSV_TRY(run_cursor_open(source->runs[i], CURSOR_BYTES,
                                &inputs[i].cursor, error));
        KSV_TRY(run_cursor_next(inputs[i].cursor, &inputs[i].entry, error));
    }
    return KSV_OK;
}

/* The inputs are few. */
static merge_input *lowest(merge_input *inputs, size_t count)
{
    merge_input *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].entry != NULL &&
            (best == NULL || inputs[i].entry->hash < best->entry->hash))
            best = &inputs[i];
    }
    return best;
}

static ksv_status merge_inputs(const run_source *source, merge_input *inputs,
                               run_writer *writer, ksv_error *error)
{
    KSV_TRY(open_inputs(source, inputs, error));
    merge_input *next;
    while ((next = lowest(inputs, source->run_count)) != NULL) {
        const run_entry *entry = next->entry;
        if (entry->time_ms > source->forgotten_ms)
            KSV_TRY(run_writer_add(writer, entry->hash, entry->time_ms,
                                   entry->key, entry->key_bytes, error));
        KSV_TRY(run_cursor_next(next->cursor, &next->entry, error));
    }
    return KSV_OK;
}

static ksv_status write_runs(const run_source *source, run_writer *writer,
                             ksv_error *error)
{
    merge_input *inputs = memory_zalloc_array(
        source->allocator, source->run_count, sizeof *inputs);
    if (inputs == NULL)
        return error_set_memory(error);
    ksv_status status = merge_inputs(source, inputs, writer, error);
    for (size_t i = 0; i < source->run_count; i++)
        run_cursor_close(inputs[i].cursor);
    memory_free(source->allocator, inputs, source->run_count * sizeof *inputs);
    return status;
}

static ksv_status write_keys(const run_source *source, run_writer *writer,
                             ksv_error *error)
{
    key_taker taker = {writer, source->forgotten_ms};
    return recent_keys_visit(source->keys, take_key, &taker, error);
}

ksv_status run_source_write(run_source *source, const run_plan *plan,
                            key_run **run, ksv_error *error)
{
    run_writer *writer;
    run_outlook outlook;
    *run = NULL;
    if (source->keys != NULL)
        KSV_TRY(look_at_keys(source, &outlook, error));
    else
        outlook = look_at_runs(source);
    run_writer_options options = {
        .fs = plan->fs,
        .path = plan->path,
        .allocator = plan->allocator,
        .hasher = plan->hasher,
        .number = plan->number,
        .page_bytes = choose_page_bytes(plan, &outlook),
        .level = outlook.level,
        .base_time_ms =
            outlook.base_time_ms == INT64_MAX ? 0 : outlook.base_time_ms,
    };
    KSV_TRY(plan_filter(plan, &outlook, &options, error));
    KSV_TRY(run_writer_open(&options, &writer, error));
    ksv_status status = source->keys != NULL
                            ? write_keys(source, writer, error)
                            : write_runs(source, writer, error);
    if (status == KSV_OK)
        return run_writer_finish(writer, plan->sync, run, error);
    run_writer_abandon(writer);
    return status;
}
