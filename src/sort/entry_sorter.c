/* SPDX-License-Identifier: MIT */
/* Collects entries in partitions, spills them beyond the limit, and gives them
 * back sorted, partition by partition. */
#include "sort/entry_sorter.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "sort/sorter_output.h"

/* Partitions of about so many entries fit the second-level cache. */
#define PARTITION_ENTRIES 8192
#define MOST_PARTITION_BITS 10
/* The part of the limit that is kept for sorting while entries come in. */
#define SORTING_SHARE 8
#define SORTING_BYTES ((size_t)32 << 20)
#define NAME_BYTES 32

struct entry_sorter {
    ksv_allocator allocator;
    uint64_t limit_bytes;
    unsigned partition_bits;
    entry_adder *adders;
    unsigned adder_count;
    const ksv_file_system *fs;
    char *directory;
    char spill_name[NAME_BYTES];
    char merge_name[NAME_BYTES];
    spill_file spill;
    bool has_spilled;
    sorter_output *output; /* NULL until finished */
    thread_pool *pool;     /* likewise */
};

static uint64_t adder_limit(const entry_sorter *sorter)
{
    if (sorter->fs == NULL)
        return SIZE_MAX;
    uint64_t sorting = sorter->limit_bytes / SORTING_SHARE + SPILL_MEMORY_BYTES;
    return (sorter->limit_bytes - sorting) / sorter->adder_count;
}

/* Each adder has a chunk a partition that is half empty: they may not take up
 * much of what there is. */
static unsigned choose_bits(const entry_sorter *sorter, uint64_t expected)
{
    uint64_t wanted = expected == 0 ? 256 : expected / PARTITION_ENTRIES;
    uint64_t most = adder_limit(sorter) / 8 / CHUNK_BYTES;
    unsigned bits = 1;
    while (bits < MOST_PARTITION_BITS && (uint64_t)1 << bits < wanted &&
           (uint64_t)2 << bits <= most)
        bits++;
    return bits;
}

static size_t expected_bytes(const entry_sorter *sorter, uint64_t expected)
{
    uint64_t partitions = (uint64_t)1 << sorter->partition_bits;
    uint64_t chunks = expected / sorter->adder_count / CHUNK_ENTRIES + 1;
    uint64_t bytes = (chunks + partitions) * CHUNK_BYTES;
    return bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

static ksv_status open_adders(entry_sorter *sorter,
                              const entry_sorter_options *options,
                              ksv_error *error)
{
    uint64_t limit = adder_limit(sorter);
    adder_options adder = {
        .allocator = &sorter->allocator,
        .spill = sorter->fs != NULL ? &sorter->spill : NULL,
        .partition_bits = sorter->partition_bits,
        .expected_bytes = expected_bytes(sorter, options->expected_entries),
        .limit_bytes = limit < SIZE_MAX ? (size_t)limit : SIZE_MAX};
    sorter->adders = memory_zalloc_array(
        &sorter->allocator, sorter->adder_count, sizeof *sorter->adders);
    if (sorter->adders == NULL)
        return error_set_memory(error);
    for (unsigned i = 0; i < sorter->adder_count; i++)
        KSV_TRY(entry_adder_init(&sorter->adders[i], &adder, error));
    return KSV_OK;
}

static void make_name(char name[NAME_BYTES], const char *stem,
                      const char *ending)
{
    size_t length = strlen(stem);
    size_t most = NAME_BYTES - 1 - strlen(ending);
    if (length > most)
        length = most;
    memcpy(name, stem, length);
    memcpy(name + length, ending, strlen(ending) + 1);
}

static ksv_status start(entry_sorter *sorter,
                        const entry_sorter_options *options, ksv_error *error)
{
    if (sorter->fs != NULL) {
        make_name(sorter->spill_name, options->spill_name, ".spill.tmp");
        make_name(sorter->merge_name, options->spill_name, ".merge.tmp");
        sorter->directory = memory_copy_string(
            &sorter->allocator, options->directory, strlen(options->directory));
        if (sorter->directory == NULL)
            return error_set_memory(error);
        KSV_TRY(spill_file_init(&sorter->spill, sorter->fs, &sorter->allocator,
                                sorter->directory, sorter->spill_name,
                                sorter->partition_bits, error));
    }
    return open_adders(sorter, options, error);
}

ksv_status entry_sorter_open(const entry_sorter_options *options,
                             entry_sorter **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(options->allocator);
    entry_sorter *sorter = memory_zalloc(&a, sizeof *sorter);
    if (sorter == NULL)
        return error_set_memory(error);
    sorter->allocator = a;
    sorter->adder_count = options->adders > 0 ? options->adders : 1;
    sorter->fs = options->memory_bytes > 0 ? options->fs : NULL;
    sorter->limit_bytes = options->memory_bytes;
    if (sorter->limit_bytes < ENTRY_SORTER_LEAST_BYTES)
        sorter->limit_bytes = ENTRY_SORTER_LEAST_BYTES;
    sorter->partition_bits = choose_bits(sorter, options->expected_entries);
    ksv_status status = start(sorter, options, error);
    if (status != KSV_OK) {
        entry_sorter_close(sorter);
        return status;
    }
    *out = sorter;
    return KSV_OK;
}

void entry_sorter_close(entry_sorter *sorter)
{
    if (sorter == NULL)
        return;
    ksv_allocator a = sorter->allocator;
    sorter_output_close(sorter->output);
    for (unsigned i = 0; sorter->adders != NULL && i < sorter->adder_count; i++)
        if (sorter->adders[i].allocator != NULL)
            entry_adder_release(&sorter->adders[i]);
    memory_free(&a, sorter->adders,
                sorter->adder_count * sizeof *sorter->adders);
    if (sorter->fs != NULL && sorter->spill.fs != NULL)
        spill_file_release(&sorter->spill);
    memory_free_string(&a, sorter->directory);
    memory_free(&a, sorter, sizeof *sorter);
}

entry_adder *entry_sorter_adder(entry_sorter *sorter, unsigned number)
{
    return &sorter->adders[number];
}

uint64_t entry_sorter_count(const entry_sorter *sorter)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < sorter->adder_count; i++)
        count += sorter->adders[i].in_memory + sorter->adders[i].spilled;
    return count;
}

static size_t memory_taken(const entry_sorter *sorter)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < sorter->adder_count; i++)
        bytes += sorter->adders[i].pool.total_bytes;
    return bytes;
}

static ksv_status spill_all(entry_sorter *sorter, ksv_error *error)
{
    for (unsigned i = 0; i < sorter->adder_count; i++) {
        KSV_TRY(entry_adder_spill(&sorter->adders[i], error));
        chunk_pool_release(&sorter->adders[i].pool);
    }
    sorter->has_spilled = true;
    return spill_file_start_reading(&sorter->spill, error);
}

static output_options output_for(const entry_sorter *sorter, unsigned hash_bits,
                                 thread_pool *pool, unsigned threads)
{
    output_options options = {
        .source = {.allocator = &sorter->allocator,
                   .adders = sorter->adders,
                   .adder_count = sorter->adder_count,
                   .spill = sorter->has_spilled ? &sorter->spill : NULL,
                   .partition_bits = sorter->partition_bits,
                   .hash_bits = hash_bits},
        .fs = sorter->fs,
        .directory = sorter->directory,
        .merge_name = sorter->merge_name,
        .pool = pool,
        .threads = threads,
        .memory_bytes = SIZE_MAX};
    if (sorter->fs == NULL)
        return options;
    uint64_t limit = sorter->limit_bytes - memory_taken(sorter);
    /* Once all is on disk, no more than it took before. */
    uint64_t enough =
        entry_sorter_count(sorter) * sizeof(hash_entry) + SORTING_BYTES;
    if (sorter->has_spilled && limit > enough)
        limit = enough;
    options.memory_bytes = limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
    return options;
}

static bool any_spilled(const entry_sorter *sorter)
{
    for (unsigned i = 0; i < sorter->adder_count; i++)
        if (sorter->adders[i].spilled > 0)
            return true;
    return false;
}

/* Sorting in memory needs room beside the entries: a partition that a repeated
 * key has made large may need too much. */
static bool fits_in_memory(const entry_sorter *sorter,
                           const output_options *options)
{
    return sorter->fs == NULL ||
           sorter_output_fits(options, entry_sorter_count(sorter));
}

ksv_status entry_sorter_finish(entry_sorter *sorter, unsigned hash_bits,
                               thread_pool *pool, unsigned threads,
                               ksv_error *error)
{
    if (hash_bits < 32 || hash_bits > 64)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "cannot sort by %u bits", hash_bits);
    if (any_spilled(sorter))
        KSV_TRY(spill_all(sorter, error));
    output_options options = output_for(sorter, hash_bits, pool, threads);
    KSV_TRY(sort_source_count(&options.source, error));
    if (!sorter->has_spilled && !fits_in_memory(sorter, &options)) {
        sort_source_release(&options.source);
        KSV_TRY(spill_all(sorter, error));
        options = output_for(sorter, hash_bits, pool, threads);
        KSV_TRY(sort_source_count(&options.source, error));
    }
    sorter->pool = pool;
    return sorter_output_open(&options, &sorter->output, error);
}

ksv_status entry_sorter_next(entry_sorter *sorter, const hash_entry **entries,
                             size_t *count, ksv_error *error)
{
    return sorter_output_next(sorter->output, entries, count, error);
}

ksv_status entry_sorter_next_kept(entry_sorter *sorter,
                                  const hash_entry **entries, size_t *count,
                                  bool *kept, ksv_error *error)
{
    return sorter_output_next_kept(sorter->output, entries, count, kept, error);
}

void entry_sorter_give_back(entry_sorter *sorter)
{
    sorter_output_give_back(sorter->output);
}

size_t entry_sorter_most_kept(const entry_sorter *sorter)
{
    return sorter_output_most_kept(sorter->output);
}

thread_pool *entry_sorter_pool(const entry_sorter *sorter)
{
    return sorter->pool;
}

void entry_sorter_distinct(const entry_sorter *sorter,
                           sorter_distinct *distinct)
{
    *distinct = sorter_output_distinct(sorter->output);
}

bool entry_sorter_spilled(const entry_sorter *sorter)
{
    return sorter->has_spilled;
}
