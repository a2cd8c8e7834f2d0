/* SPDX-License-Identifier: MIT */
/* All keys that are not in memory: runs on disk, merged as they grow in number,
 * forgotten when their time has passed. */
#include "dedup/run_set.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "dedup/run_merge.h"
#include "dedup/run_set_private.h"
#include "dedup/state_files.h"
#include "io/file.h"

ksv_status run_set_open(const run_set_options *options, run_set **out,
                        ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(options->allocator);
    run_set *s = memory_zalloc(&a, sizeof *s);
    if (s == NULL)
        return error_set_memory(error);
    s->allocator = a;
    s->options = *options;
    if (options->directory != NULL) {
        s->directory = memory_copy_string(&s->allocator, options->directory,
                                          strlen(options->directory));
        if (s->directory == NULL) {
            run_set_close(s);
            return error_set_memory(error);
        }
    }
    *out = s;
    return KSV_OK;
}

void run_set_close(run_set *s)
{
    if (s == NULL)
        return;
    ksv_allocator a = s->allocator;
    for (size_t i = 0; i < s->count; i++)
        key_run_close(s->runs[i]);
    memory_free(&a, s->runs, s->capacity * sizeof(*s->runs));
    run_set_free_queries(s);
    memory_free(&a, s->wave, s->wave_bytes);
    memory_free(&a, s->page, s->page_bytes);
    memory_free_string(&a, s->directory);
    memory_free(&a, s, sizeof *s);
}

static ksv_status path_of(const run_set *s, uint64_t number, char **path,
                          ksv_error *error)
{
    *path = NULL;
    if (s->directory == NULL)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "more keys than fit in memory, and no directory to "
                         "put them");
    return state_file_path(s->directory, STATE_RUN, number, &s->allocator, path,
                           error);
}

/* Takes over `run`, closed on failure. */
static ksv_status insert(run_set *s, size_t index, key_run *run,
                         ksv_error *error)
{
    void *items = s->runs;
    ksv_status status = memory_grow(&s->allocator, &items, &s->capacity,
                                    s->count + 1, sizeof(*s->runs), error);
    s->runs = items;
    if (status != KSV_OK) {
        key_run_close(run);
        return status;
    }
    memmove(s->runs + index + 1, s->runs + index,
            (s->count - index) * sizeof(*s->runs));
    s->runs[index] = run;
    s->count++;
    s->has_changed = true;
    return KSV_OK;
}

ksv_status run_set_adopt(run_set *s, uint64_t number, ksv_error *error)
{
    char *path;
    key_run *run;
    KSV_TRY(path_of(s, number, &path, error));
    ksv_status status = key_run_open(s->options.fs, path, &s->options.hasher,
                                     &s->allocator, &run, error);
    memory_free_string(&s->allocator, path);
    KSV_TRY(status);
    run->number = number;
    file_expect_random(run->file);
    status = insert(s, s->count, run, error);
    s->has_changed = false;
    return status;
}

static void drop(run_set *s, size_t index)
{
    key_run *run = s->runs[index];
    key_run_close(run);
    s->count--;
    memmove(s->runs + index, s->runs + index + 1,
            (s->count - index) * sizeof(*s->runs));
    s->has_changed = true;
}

static int64_t forgotten_ms(const run_set *s, int64_t now_ms)
{
    return s->options.window_ms > 0 ? now_ms - s->options.window_ms : INT64_MIN;
}

/* Drops runs whose last entry is forgotten. */
static void expire(run_set *s, int64_t now_ms)
{
    int64_t forgotten = forgotten_ms(s, now_ms);
    for (size_t i = s->count; i-- > 0;) {
        if (s->options.window_ms > 0 &&
            s->runs[i]->info.newest_time_ms <= forgotten)
            drop(s, i);
    }
}

/* The slice of the window that a run belongs to. */
static int64_t slice_of(const run_set *s, int64_t time_ms)
{
    if (s->options.window_ms <= 0)
        return 0;
    int64_t slice = time_ms / s->options.slice_ms;
    return time_ms % s->options.slice_ms < 0 ? slice - 1 : slice;
}

/* Writes a run out of `source`, inserts it at `index`, unless it is empty. */
static ksv_status write_run(run_set *s, run_source *source, size_t index,
                            int64_t now_ms, ksv_error *error)
{
    const run_set_options *o = &s->options;
    char *path;
    key_run *run;
    uint64_t number = (*s->options.next_number)++;
    KSV_TRY(path_of(s, number, &path, error));
    run_plan plan = {
        .fs = s->options.fs,
        .path = path,
        .allocator = &s->allocator,
        .hasher = s->options.hasher,
        .number = number,
        .sync = s->options.is_kept,
        .memory_bytes = o->memory_bytes,
        .now_ms = now_ms,
        .kept_ms = o->window_ms > 0 ? o->window_ms + o->slice_ms : 0,
    };
    for (size_t i = 0; i < s->count; i++) {
        plan.used_bytes += key_run_memory_bytes(s->runs[i]);
        if (run_source_has_run(source, s->runs[i]))
            continue;
        plan.other_entries += s->runs[i]->info.entries;
        plan.other_fence_bytes += key_run_fence_bytes(&s->runs[i]->info);
    }
    ksv_status status = run_source_write(source, &plan, &run, error);
    /* Without a name it cannot be left behind. */
    bool is_empty = status == KSV_OK && run->info.entries == 0;
    if (status == KSV_OK && (is_empty || !s->options.is_kept))
        (void)s->options.fs->remove(s->options.fs->ctx, path, NULL);
    memory_free_string(&s->allocator, path);
    KSV_TRY(status);
    s->cost.runs_written++;
    s->cost.bytes_written += run_file_bytes(&run->info);
    if (is_empty) {
        key_run_close(run);
        return KSV_OK;
    }
    return insert(s, index, run, error);
}

/* Whether a run belongs to a group that is to be merged. */
static bool is_member(const run_set *s, size_t i, int64_t slice, int64_t level)
{
    return slice_of(s, s->runs[i]->info.newest_time_ms) == slice &&
           (level < 0 || s->runs[i]->info.level == level);
}

/* Merges the runs of a slice, of a level or, below 0, of all. */
static ksv_status merge(run_set *s, int64_t slice, int64_t level,
                        int64_t now_ms, ksv_error *error)
{
    run_source source;
    size_t last = 0;
    run_source_init_merge(&source, &s->allocator, forgotten_ms(s, now_ms));
    ksv_status status = KSV_OK;
    for (size_t i = 0; i < s->count && status == KSV_OK; i++) {
        if (!is_member(s, i, slice, level))
            continue;
        status = run_source_add_run(&source, s->runs[i], error);
        last = i;
    }
    if (status == KSV_OK)
        status = write_run(s, &source, last + 1, now_ms, error);
    run_source_release(&source);
    KSV_TRY(status);
    for (size_t i = last + 1; i-- > 0;) {
        if (is_member(s, i, slice, level))
            drop(s, i);
    }
    return KSV_OK;
}

static size_t count_members(const run_set *s, int64_t slice, int64_t level)
{
    size_t members = 0;
    for (size_t i = 0; i < s->count; i++)
        members += is_member(s, i, slice, level);
    return members;
}

/* Merges until no level of a slice has too many runs, and slices that nothing
 * is added to any more have one. */
static ksv_status settle(run_set *s, int64_t now_ms, ksv_error *error)
{
    int64_t current = slice_of(s, now_ms);
    for (size_t i = s->count; i-- > 0;) {
        int64_t slice = slice_of(s, s->runs[i]->info.newest_time_ms);
        int64_t level = s->runs[i]->info.level;
        bool is_closed = slice < current && count_members(s, slice, -1) > 1;
        if (!is_closed && count_members(s, slice, level) < RUN_SET_FAN_OUT)
            continue;
        KSV_TRY(merge(s, slice, is_closed ? -1 : level, now_ms, error));
        i = s->count;
    }
    return KSV_OK;
}

ksv_status run_set_add(run_set *s, recent_keys *keys, int64_t now_ms,
                       ksv_error *error)
{
    run_source source;
    expire(s, now_ms);
    run_source_init_keys(&source, &s->allocator, forgotten_ms(s, now_ms), keys);
    ksv_status status = write_run(s, &source, s->count, now_ms, error);
    run_source_release(&source);
    KSV_TRY(status);
    return settle(s, now_ms, error);
}

size_t run_set_count(const run_set *s)
{
    return s->count;
}

const key_run *run_set_get(const run_set *s, size_t index)
{
    return s->runs[index];
}

bool run_set_has_changed(const run_set *s)
{
    return s->has_changed;
}

void run_set_accept(run_set *s)
{
    s->has_changed = false;
}

void run_set_get_cost(const run_set *s, run_set_cost *cost)
{
    *cost = s->cost;
    for (size_t i = 0; i < s->count; i++) {
        const key_run *run = s->runs[i];
        cost->entries += run->info.entries;
        cost->disk_bytes += run_file_bytes(&run->info);
        cost->memory_bytes += key_run_memory_bytes(run);
    }
}
