/* SPDX-License-Identifier: MIT */
/* Collects entries of whole keys in sorted pieces, in memory and beyond it on
 * disk, and merges these. */
#include "sort/key_sorter.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "sort/key_adder.h"
#include "sort/key_merge.h"

#define NAME_BYTES 64
/* What is read of each run at a time, if memory allows. */
#define LEAST_BUFFER_BYTES ((size_t)16 << 10)
#define MOST_BUFFER_BYTES ((size_t)1 << 20)
/* Runs that are merged at once. */
#define LEAST_FAN_IN 4
#define MOST_FAN_IN 512

struct key_sorter {
    ksv_allocator allocator;
    uint64_t memory_bytes;
    key_adder *adders;
    unsigned adder_count;
    const ksv_file_system *fs; /* NULL: never spills */
    char *directory;
    char *spill_name;
    bool has_spilled;
    unsigned passes;
    key_run_file merged; /* runs of the last pass, if there was one */
    key_merge *merge;    /* NULL until finished */
};

static void make_name(const key_sorter *sorter, const char *kind,
                      unsigned number, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%.16s.%s%u.tmp", sorter->spill_name, kind,
             number);
}

/* What an adder may take for chunks. */
static uint64_t adder_limit(const key_sorter *sorter)
{
    uint64_t each = sorter->memory_bytes / sorter->adder_count;
    if (each < KEY_SORTER_LEAST_BYTES)
        each = KEY_SORTER_LEAST_BYTES;
    return each - KEY_RUN_WRITE_BYTES;
}

static ksv_status start(key_sorter *sorter, const key_sorter_options *options,
                        ksv_error *error)
{
    const ksv_allocator *a = &sorter->allocator;
    char name[NAME_BYTES] = "";
    if (sorter->fs != NULL) {
        sorter->directory = memory_copy_string(a, options->directory,
                                               strlen(options->directory));
        sorter->spill_name = memory_copy_string(a, options->spill_name,
                                                strlen(options->spill_name));
        if (sorter->directory == NULL || sorter->spill_name == NULL)
            return error_set_memory(error);
    }
    sorter->adders =
        memory_zalloc_array(a, sorter->adder_count, sizeof *sorter->adders);
    if (sorter->adders == NULL)
        return error_set_memory(error);
    for (unsigned i = 0; i < sorter->adder_count; i++) {
        if (sorter->fs != NULL)
            make_name(sorter, "keys", i, name);
        KSV_TRY(key_adder_init(&sorter->adders[i], a, adder_limit(sorter),
                               sorter->fs, sorter->directory, name, error));
    }
    return KSV_OK;
}

ksv_status key_sorter_open(const key_sorter_options *options, key_sorter **out,
                           ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(options->allocator);
    key_sorter *sorter = memory_zalloc(&a, sizeof *sorter);
    if (sorter == NULL)
        return error_set_memory(error);
    sorter->allocator = a;
    sorter->memory_bytes = options->memory_bytes;
    sorter->adder_count = options->adders > 0 ? options->adders : 1;
    sorter->fs = options->memory_bytes > 0 ? options->fs : NULL;
    ksv_status status = start(sorter, options, error);
    if (status != KSV_OK) {
        key_sorter_close(sorter);
        return status;
    }
    *out = sorter;
    return KSV_OK;
}

void key_sorter_close(key_sorter *sorter)
{
    if (sorter == NULL)
        return;
    ksv_allocator a = sorter->allocator;
    key_merge_close(sorter->merge);
    for (unsigned i = 0; sorter->adders != NULL && i < sorter->adder_count; i++)
        key_adder_release(&sorter->adders[i]);
    memory_free(&a, sorter->adders,
                sorter->adder_count * sizeof *sorter->adders);
    key_run_file_release(&sorter->merged);
    memory_free_string(&a, sorter->directory);
    memory_free_string(&a, sorter->spill_name);
    memory_free(&a, sorter, sizeof *sorter);
}

key_adder *key_sorter_adder(key_sorter *sorter, unsigned number)
{
    return &sorter->adders[number];
}

uint64_t key_sorter_count(const key_sorter *sorter)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < sorter->adder_count; i++)
        count += sorter->adders[i].count;
    return count;
}

uint64_t key_sorter_highest(const key_sorter *sorter)
{
    uint64_t highest = 0;
    for (unsigned i = 0; i < sorter->adder_count; i++)
        if (sorter->adders[i].highest > highest)
            highest = sorter->adders[i].highest;
    return highest;
}

static void sort_all(key_sorter *sorter, thread_pool *pool)
{
    for (unsigned i = 0; i < sorter->adder_count; i++) {
        key_adder *adder = &sorter->adders[i];
        adder->task = (thread_task){.run = key_adder_sort, .ctx = adder};
        if (pool != NULL)
            thread_pool_submit(pool, &adder->task);
        else
            key_adder_sort(adder);
    }
    for (unsigned i = 0; pool != NULL && i < sorter->adder_count; i++)
        thread_pool_wait(pool, &sorter->adders[i].task);
}

static ksv_status merge_in_memory(key_sorter *sorter, thread_pool *pool,
                                  ksv_error *error)
{
    size_t chunks = 0;
    sort_all(sorter, pool);
    for (unsigned i = 0; i < sorter->adder_count; i++)
        chunks += key_adder_chunk_count(&sorter->adders[i]);
    KSV_TRY(key_merge_open(&sorter->allocator, chunks, &sorter->merge, error));
    for (unsigned i = 0; i < sorter->adder_count; i++)
        for (key_chunk *c = sorter->adders[i].first; c != NULL; c = c->next)
            key_merge_add_chunk(sorter->merge, c);
    return KSV_OK;
}

/* Runs that are to be merged: those of the last pass, or of all adders. */
static size_t run_count(const key_sorter *sorter)
{
    size_t count = sorter->merged.run_count;
    for (unsigned i = 0; i < sorter->adder_count; i++)
        count += sorter->adders[i].runs.run_count;
    return count;
}

static const key_run_file *find_run(const key_sorter *sorter, size_t *run)
{
    const key_run_file *file = &sorter->merged;
    for (unsigned i = 0; *run >= file->run_count; i++) {
        *run -= file->run_count;
        file = &sorter->adders[i].runs;
    }
    return file;
}

static size_t fan_in(const key_sorter *sorter)
{
    uint64_t runs = sorter->memory_bytes / 2 / LEAST_BUFFER_BYTES;
    return runs < LEAST_FAN_IN  ? LEAST_FAN_IN
           : runs > MOST_FAN_IN ? MOST_FAN_IN
                                : (size_t)runs;
}

/* A merge of `count` runs from number `first` on. */
static ksv_status open_merge(key_sorter *sorter, size_t first, size_t count,
                             key_merge **out, ksv_error *error)
{
    uint64_t share = sorter->memory_bytes / 2 / count;
    size_t bytes = share < LEAST_BUFFER_BYTES  ? LEAST_BUFFER_BYTES
                   : share > MOST_BUFFER_BYTES ? MOST_BUFFER_BYTES
                                               : (size_t)share;
    KSV_TRY(key_merge_open(&sorter->allocator, count, out, error));
    for (size_t i = 0; i < count; i++) {
        size_t run = first + i;
        const key_run_file *file = find_run(sorter, &run);
        KSV_TRY(key_merge_add_run(*out, file, run, bytes, error));
    }
    return KSV_OK;
}

static ksv_status write_merged(key_sorter *sorter, key_run_file *to,
                               ksv_error *error)
{
    size_t runs = run_count(sorter), most = fan_in(sorter);
    for (size_t first = 0; first < runs; first += most) {
        key_merge *merge = NULL;
        size_t count = runs - first < most ? runs - first : most;
        ksv_status status = open_merge(sorter, first, count, &merge, error);
        if (status == KSV_OK)
            status = key_merge_write(merge, to, error);
        key_merge_close(merge);
        KSV_TRY(status);
    }
    return key_run_start_reading(to, error);
}

/* Makes fewer and longer runs of those that there are. */
static ksv_status merge_pass(key_sorter *sorter, ksv_error *error)
{
    char name[NAME_BYTES];
    key_run_file to;
    make_name(sorter, "pass", sorter->passes++, name);
    ksv_status status = key_run_file_init(&to, sorter->fs, &sorter->allocator,
                                          sorter->directory, name, error);
    if (status == KSV_OK)
        status = write_merged(sorter, &to, error);
    if (status != KSV_OK) {
        key_run_file_release(&to);
        return status;
    }
    for (unsigned i = 0; i < sorter->adder_count; i++)
        key_run_file_release(&sorter->adders[i].runs);
    key_run_file_release(&sorter->merged);
    sorter->merged = to;
    return KSV_OK;
}

static ksv_status merge_on_disk(key_sorter *sorter, ksv_error *error)
{
    for (unsigned i = 0; i < sorter->adder_count; i++) {
        key_adder *adder = &sorter->adders[i];
        KSV_TRY(key_adder_spill(adder, error));
        if (adder->runs.run_count > 0)
            KSV_TRY(key_run_start_reading(&adder->runs, error));
    }
    while (run_count(sorter) > fan_in(sorter))
        KSV_TRY(merge_pass(sorter, error));
    return open_merge(sorter, 0, run_count(sorter), &sorter->merge, error);
}

ksv_status key_sorter_finish(key_sorter *sorter, thread_pool *pool,
                             ksv_error *error)
{
    sorter->has_spilled = run_count(sorter) > 0;
    if (sorter->has_spilled)
        return merge_on_disk(sorter, error);
    return merge_in_memory(sorter, pool, error);
}

ksv_status key_sorter_next(key_sorter *sorter, key_entry *entry, bool *end,
                           ksv_error *error)
{
    return key_merge_next(sorter->merge, entry, end, error);
}

bool key_sorter_spilled(const key_sorter *sorter)
{
    return sorter->has_spilled;
}
