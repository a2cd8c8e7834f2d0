/* SPDX-License-Identifier: MIT */
/* Generations of filters over time: hashes that were passed less than a window
 * ago, in memory that does not grow. */
#include "window/generations.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Blocks of the open generation that are on the way from memory. */
enum { BLOCKS_AHEAD = 24 };

struct generations {
    ksv_allocator allocator;
    generations_options options;
    ksv_filter_plan plan;
    uint64_t capacity; /* keys of a generation */
    uint64_t full_at;  /* with so many it is closed early */
    size_t most;       /* generations */
    int64_t slice_ms;
    size_t count;
    generation items[GENERATIONS_MAX];
    memory_filter spare; /* of a generation that was dropped */
    uint64_t begun;
    uint64_t changes;
    double worst_rate;
    uint64_t hashes[GENERATIONS_BATCH];
    uint32_t numbers[GENERATIONS_BATCH];
    bool answers[GENERATIONS_BATCH];
};

static ksv_status make_plan(generations *g, ksv_error *error)
{
    const generations_options *o = &g->options;
    unsigned slices = o->slices;
    g->capacity = o->expected_keys > 0 ? o->expected_keys : 1;
    g->most = 1;
    g->full_at = UINT64_MAX;
    if (o->window_ms <= 0)
        return ksv_filter_make_plan(g->capacity, o->fpr, 64, &g->plan, error);
    g->capacity = (g->capacity - 1) / slices + 1;
    /* An even stream has a little more or less in a slice; as many keys as were
     * expected, that come all at once, still do not raise the rate much. */
    g->full_at = g->capacity + g->capacity / 64 + 1;
    g->most = slices + 1 + (slices + 3) / 4;
    g->slice_ms = o->window_ms / slices > 0 ? o->window_ms / slices : 1;
    return ksv_filter_make_plan(g->capacity, o->fpr / (slices + 1), 64,
                                &g->plan, error);
}

ksv_status generations_open(const generations_options *options,
                            generations **out, ksv_error *error)
{
    *out = NULL;
    if (options->window_ms > 0 && (options->slices < GENERATIONS_SLICES_MIN ||
                                   options->slices > GENERATIONS_SLICES_MAX))
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a window has %d to %d generations, not %u",
                         GENERATIONS_SLICES_MIN, GENERATIONS_SLICES_MAX,
                         options->slices);
    ksv_allocator a = allocator_or_default(options->allocator);
    generations *g = memory_zalloc(&a, sizeof *g);
    if (g == NULL)
        return error_set_memory(error);
    g->allocator = a;
    g->options = *options;
    ksv_status status = make_plan(g, error);
    if (status != KSV_OK) {
        generations_close(g);
        return status;
    }
    *out = g;
    return KSV_OK;
}

void generations_close(generations *g)
{
    if (g == NULL)
        return;
    ksv_allocator a = g->allocator;
    for (size_t i = 0; i < g->count; i++)
        memory_filter_release(&g->items[i].filter, &a);
    memory_filter_release(&g->spare, &a);
    memory_free(&a, g, sizeof *g);
}

ksv_status generations_add(generations *g, generation **added, ksv_error *error)
{
    *added = NULL;
    if (g->count == GENERATIONS_MAX)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "there are more than %d generations", GENERATIONS_MAX);
    generation fresh = {.keys = 0};
    if (g->spare.blocks > 0) {
        fresh.filter = g->spare;
        g->spare = (memory_filter){.blocks = 0};
        filter_memory_clear(&fresh.filter.memory);
    } else {
        KSV_TRY(memory_filter_init(&fresh.filter, g->plan.blocks,
                                   g->plan.hash_functions, &g->allocator,
                                   error));
    }
    g->items[g->count] = fresh;
    *added = &g->items[g->count++];
    return KSV_OK;
}

/* The rate of false positives to expect now. */
static double rate_now(const generations *g)
{
    double passes = 1;
    for (size_t i = 0; i < g->count; i++)
        passes *=
            1 - ksv_filter_expected_fpr(g->plan.blocks, g->plan.hash_functions,
                                        g->items[i].keys, 64);
    return 1 - passes;
}

static void note_rate(generations *g)
{
    double rate = rate_now(g);
    if (rate > g->worst_rate)
        g->worst_rate = rate;
}

static void drop(generations *g, size_t index)
{
    memory_filter *filter = &g->items[index].filter;
    if (g->spare.blocks == 0)
        g->spare = *filter;
    else
        memory_filter_release(filter, &g->allocator);
    g->count--;
    memmove(&g->items[index], &g->items[index + 1],
            (g->count - index) * sizeof g->items[0]);
    g->changes++;
}

static void expire(generations *g, int64_t now_ms)
{
    if (g->options.window_ms <= 0)
        return;
    for (size_t i = g->count; i-- > 0;) {
        if (g->items[i].newest_ms <= now_ms - g->options.window_ms)
            drop(g, i);
    }
}

static generation *open_generation(generations *g)
{
    return g->count > 0 ? &g->items[g->count - 1] : NULL;
}

static bool has_to_close(const generations *g, const generation *open,
                         int64_t now_ms)
{
    return g->count < g->most &&
           (now_ms - open->first_ms >= g->slice_ms || open->keys >= g->full_at);
}

/* Makes sure that there is an open generation for `now_ms`. */
static ksv_status prepare(generations *g, int64_t now_ms, ksv_error *error)
{
    expire(g, now_ms);
    generation *open = open_generation(g);
    if (open != NULL && !has_to_close(g, open, now_ms))
        return KSV_OK;
    note_rate(g);
    KSV_TRY(generations_add(g, &open, error));
    open->first_ms = now_ms;
    open->newest_ms = now_ms;
    g->begun++;
    g->changes++;
    return KSV_OK;
}

/* When the oldest of the closed generations is dropped. */
static int64_t next_drop_ms(const generations *g)
{
    if (g->count < 2 || g->options.window_ms <= 0)
        return INT64_MAX;
    return g->items[0].newest_ms + g->options.window_ms;
}

/* How many items belong to the generation that is open now, and are to be
 * looked for in the same closed ones. */
static size_t count_together(const generations *g, const window_item *items,
                             size_t count)
{
    const generation *open = &g->items[g->count - 1];
    int64_t drop_ms = next_drop_ms(g);
    size_t n = 1;
    if (g->count == g->most)
        return g->options.window_ms <= 0 ? count : 1;
    while (n < count && n < g->full_at - open->keys &&
           items[n].time_ms - open->first_ms < g->slice_ms &&
           items[n].time_ms < drop_ms)
        n++;
    return n;
}

/* Asks the closed generations, then the open one, which learns in between. */
static void decide_together(generations *g, const window_item *items,
                            size_t count, bool *fresh)
{
    generation *open = &g->items[g->count - 1];
    size_t left = count;
    for (size_t i = 0; i < count; i++) {
        g->hashes[i] = items[i].hash;
        g->numbers[i] = (uint32_t)i;
        fresh[i] = false;
    }
    for (size_t c = g->count - 1; c-- > 0 && left > 0;) {
        size_t kept = 0;
        memory_filter_probe(&g->items[c].filter, g->hashes, left, g->answers);
        for (size_t i = 0; i < left; i++) {
            g->hashes[kept] = g->hashes[i];
            g->numbers[kept] = g->numbers[i];
            kept += !g->answers[i];
        }
        left = kept;
    }
    for (size_t i = 0; i < left && i < BLOCKS_AHEAD; i++)
        memory_filter_prefetch(&open->filter, g->hashes[i]);
    for (size_t i = 0; i < left; i++) {
        if (i + BLOCKS_AHEAD < left)
            memory_filter_prefetch(&open->filter, g->hashes[i + BLOCKS_AHEAD]);
        if (memory_filter_may_contain(&open->filter, g->hashes[i]))
            continue;
        memory_filter_add(&open->filter, g->hashes[i]);
        fresh[g->numbers[i]] = true;
        open->keys++;
        open->is_stored = false;
    }
    open->newest_ms = items[count - 1].time_ms;
}

ksv_status generations_decide(generations *g, const window_item *items,
                              size_t count, bool *fresh, ksv_error *error)
{
    for (size_t done = 0; done < count;) {
        KSV_TRY(prepare(g, items[done].time_ms, error));
        size_t n = count_together(g, items + done, count - done);
        decide_together(g, items + done, n, fresh + done);
        done += n;
    }
    return KSV_OK;
}

ksv_status generations_note(generations *g, const window_item *item,
                            ksv_error *error)
{
    KSV_TRY(prepare(g, item->time_ms, error));
    generation *open = open_generation(g);
    open->keys += !memory_filter_may_contain(&open->filter, item->hash);
    memory_filter_add(&open->filter, item->hash);
    open->is_stored = false;
    if (item->time_ms > open->newest_ms)
        open->newest_ms = item->time_ms;
    return KSV_OK;
}

size_t generations_count(const generations *g)
{
    return g->count;
}

generation *generations_get(generations *g, size_t index)
{
    return &g->items[index];
}

uint64_t generations_begun(const generations *g)
{
    return g->begun;
}

uint64_t generations_changes(const generations *g)
{
    return g->changes;
}

void generations_shape(const generations *g, ksv_filter_plan *plan,
                       uint64_t *keys)
{
    *plan = g->plan;
    *keys = g->capacity;
}

double generations_worst_rate(const generations *g)
{
    double rate = rate_now(g);
    return rate > g->worst_rate ? rate : g->worst_rate;
}

uint64_t generations_memory_bytes(const generations *g)
{
    uint64_t bytes = sizeof *g + g->spare.memory.size_bytes;
    for (size_t i = 0; i < g->count; i++)
        bytes += g->items[i].filter.memory.size_bytes;
    return bytes;
}
