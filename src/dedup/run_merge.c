/* SPDX-License-Identifier: MIT */
/* Writes a run out of keys in memory or out of other runs. */
#include "dedup/run_merge.h"

#include "base/error.h"
#include "base/memory.h"
#include "filter/bloom_block.h"
#include "filter/filter_rate.h"

#define CURSOR_BYTES ((size_t)32 << 10)

/* Memory of filters is shared out for so many times the keys that there are:
 * when it is not known how many will come; at most; at least. */
#define GROWTH_EXPECTED 1.5
#define GROWTH_AT_MOST 8.0
#define RESERVE 1.03

/* A key gets so many bits of a filter at most, which is a rate of one in a
 * thousand. More than eight bits are not tested at once. */
#define BITS_AT_MOST 15.5
#define RATE_AT_MOST 0.3
enum { FUNCTIONS_USUAL = 6, FUNCTIONS_AT_MOST = 8 };

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

bool run_source_has_run(const run_source *source, const key_run *run)
{
    for (size_t i = 0; i < source->run_count; i++) {
        if (source->runs[i] == run)
            return true;
    }
    return false;
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
    int64_t newest_time_ms;
    uint32_t level;
} run_outlook;

static run_outlook look_at_runs(const run_source *source)
{
    run_outlook outlook = {.base_time_ms = INT64_MAX,
                           .newest_time_ms = INT64_MIN};
    for (size_t i = 0; i < source->run_count; i++) {
        const run_info *info = &source->runs[i]->info;
        outlook.entries += info->entries;
        outlook.bytes += info->pages * info->page_bytes;
        if (info->base_time_ms < outlook.base_time_ms)
            outlook.base_time_ms = info->base_time_ms;
        if (info->newest_time_ms > outlook.newest_time_ms)
            outlook.newest_time_ms = info->newest_time_ms;
        if (info->level >= outlook.level)
            outlook.level = info->level + 1;
    }
    return outlook;
}

/* Times are stored as what they are after the earliest one. */
static run_outlook look_at_keys(const run_source *source, int64_t now_ms)
{
    return (run_outlook){
        .entries = recent_keys_count(source->keys),
        .bytes = recent_keys_memory_bytes(source->keys),
        .base_time_ms = recent_keys_earliest_ms(source->keys),
        .newest_time_ms = now_ms,
    };
}

/* Keys that all runs will have between them, as far as can be told: as many as
 * come within the time that they are kept if they go on to come as these did,
 * but not many times what there are. */
static double keys_to_come(const run_plan *plan, const run_outlook *outlook)
{
    double now = (double)plan->other_entries + (double)outlook->entries;
    double span =
        (double)outlook->newest_time_ms - (double)outlook->base_time_ms + 1;
    if (plan->kept_ms <= 0)
        return now * GROWTH_EXPECTED;
    double keys = span > 0
                      ? (double)outlook->entries / span * (double)plan->kept_ms
                      : now;
    return keys < now * GROWTH_AT_MOST ? keys : now * GROWTH_AT_MOST;
}

/* Bits of fences a key, as they are in other runs. */
static double fence_bits_a_key(const run_plan *plan)
{
    return plan->other_entries > 0 ? 8 * (double)plan->other_fence_bytes /
                                         (double)plan->other_entries
                                   : 0;
}

/* Bits for the filter: a fair share of the memory, if nobody has taken that
 * already. All keys get as many, since every run is asked for each. */
static double share_of_bits(const run_plan *plan, const run_outlook *outlook)
{
    double entries = (double)outlook->entries;
    double now = (double)plan->other_entries + entries;
    double later = keys_to_come(plan, outlook);
    if (later < now * RESERVE)
        later = now * RESERVE;
    double left = plan->memory_bytes > plan->used_bytes
                      ? (double)(plan->memory_bytes - plan->used_bytes)
                      : 0;
    double fair = 8 * (double)plan->memory_bytes / later;
    double rest = 8 * left / (later - (double)plan->other_entries);
    double bits = (fair < rest ? fair : rest) - fence_bits_a_key(plan);
    return bits > 0 ? bits * entries : 0;
}

/* As many blocks as there is memory for, but not more than pay. There is no
 * filter when it would hardly answer anything: then every key is looked for on
 * disk. */
static void plan_filter(const run_plan *plan, const run_outlook *outlook,
                        run_writer_options *options)
{
    double most = share_of_bits(plan, outlook) / BLOOM_BLOCK_BITS;
    double enough =
        (double)outlook->entries * BITS_AT_MOST / BLOOM_BLOCK_BITS + 1;
    uint64_t blocks = (uint64_t)(most < enough ? most : enough);
    unsigned functions = FUNCTIONS_USUAL;
    if (blocks == 0 || outlook->entries == 0)
        return;
    filter_load load = filter_load_of(outlook->entries, blocks);
    double rate = filter_load_best_rate(&load, &functions);
    if (rate > RATE_AT_MOST)
        return;
    options->filter_blocks = blocks;
    options->filter_functions =
        functions < FUNCTIONS_AT_MOST ? functions : FUNCTIONS_AT_MOST;
}

/* Pages large enough that their fences do not fill the memory. */
static uint32_t choose_page_bytes(const run_plan *plan,
                                  const run_outlook *outlook)
{
    uint64_t most = plan->memory_bytes / 16;
    uint32_t page_bytes = RUN_PAGE_BYTES_MIN;
    while (page_bytes < RUN_PAGE_BYTES_MAX &&
           outlook->bytes / page_bytes * RUN_FENCE_BYTES > most)
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

/* Runs being merged: their next entries, and the hashes of those by
 * themselves, which are compared most. */
typedef struct merge_inputs {
    size_t count;
    uint64_t *hashes;
    const run_entry **entries; /* NULL: it has ended */
    run_cursor **cursors;
} merge_inputs;

static ksv_status advance(merge_inputs *in, size_t i, ksv_error *error)
{
    KSV_TRY(run_cursor_next(in->cursors[i], &in->entries[i], error));
    in->hashes[i] = in->entries[i] != NULL ? in->entries[i]->hash : UINT64_MAX;
    return KSV_OK;
}

/* The inputs are few. */
static size_t lowest(const merge_inputs *in)
{
    size_t best = 0;
    uint64_t hash = in->hashes[0];
    for (size_t i = 1; i < in->count; i++) {
        best = in->hashes[i] < hash ? i : best;
        hash = in->hashes[i] < hash ? in->hashes[i] : hash;
    }
    return best;
}

/* Some input that has not ended, when the lowest hash is that of the end. */
static bool find_last(const merge_inputs *in, size_t *at)
{
    for (*at = 0; *at < in->count; ++*at) {
        if (in->entries[*at] != NULL)
            return true;
    }
    return false;
}

static ksv_status merge_all(const run_source *source, merge_inputs *in,
                            run_writer *writer, ksv_error *error)
{
    for (size_t i = 0; i < in->count; i++) {
        KSV_TRY(run_cursor_open(source->runs[i], CURSOR_BYTES, &in->cursors[i],
                                error));
        KSV_TRY(advance(in, i, error));
    }
    for (;;) {
        size_t i = lowest(in);
        const run_entry *entry = in->entries[i];
        if (entry == NULL) {
            if (!find_last(in, &i))
                return KSV_OK;
            entry = in->entries[i];
        }
        if (entry->time_ms > source->forgotten_ms)
            KSV_TRY(run_writer_add_entry(writer, entry, error));
        KSV_TRY(advance(in, i, error));
    }
}

static void close_inputs(merge_inputs *in, const ksv_allocator *a)
{
    for (size_t i = 0; i < in->count && in->cursors != NULL; i++)
        run_cursor_close(in->cursors[i]);
    memory_free(a, in->hashes, in->count * sizeof *in->hashes);
    memory_free(a, in->entries, in->count * sizeof *in->entries);
    memory_free(a, in->cursors, in->count * sizeof *in->cursors);
}

static ksv_status write_runs(const run_source *source, run_writer *writer,
                             ksv_error *error)
{
    const ksv_allocator *a = source->allocator;
    size_t count = source->run_count;
    merge_inputs in = {
        .count = count,
        .hashes = memory_zalloc_array(a, count, sizeof *in.hashes),
        .entries = memory_zalloc_array(a, count, sizeof *in.entries),
        .cursors = memory_zalloc_array(a, count, sizeof *in.cursors),
    };
    ksv_status status =
        in.hashes != NULL && in.entries != NULL && in.cursors != NULL
            ? merge_all(source, &in, writer, error)
            : error_set_memory(error);
    close_inputs(&in, a);
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
    run_outlook outlook = source->keys != NULL
                              ? look_at_keys(source, plan->now_ms)
                              : look_at_runs(source);
    *run = NULL;
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
    plan_filter(plan, &outlook, &options);
    KSV_TRY(run_writer_open(&options, &writer, error));
    ksv_status status = source->keys != NULL
                            ? write_keys(source, writer, error)
                            : write_runs(source, writer, error);
    if (status == KSV_OK)
        return run_writer_finish(writer, plan->sync, run, error);
    run_writer_abandon(writer);
    return status;
}
