/* SPDX-License-Identifier: MIT */
/* Where one thread puts its entries: partitions by the top bits of hashes. */
#include "sort/entry_adder.h"

#include <string.h>

#include "base/memory.h"
#include "base/prefetch.h"

/* Partitions fill at about one pace: their first chunks begin in different
 * places, or else the places where the next entries go would share a few sets
 * of the cache. */
#define FIRST_STEP 37

#define LINE_ENTRIES (64 / sizeof(hash_entry))

ksv_status entry_adder_init(entry_adder *adder, const adder_options *options,
                            ksv_error *error)
{
    *adder = (entry_adder){.shift = 64 - options->partition_bits,
                           .partitions = (size_t)1 << options->partition_bits,
                           .allocator = options->allocator,
                           .spill = options->spill};
    chunk_pool_init(&adder->pool, options->allocator, options->expected_bytes,
                    options->limit_bytes);
    adder->firsts = memory_zalloc_array(adder->allocator, adder->partitions,
                                        sizeof(entry_chunk *));
    adder->tails = memory_zalloc_array(adder->allocator, adder->partitions,
                                       sizeof(hash_entry *));
    adder->rooms = memory_zalloc_array(adder->allocator, adder->partitions,
                                       sizeof *adder->rooms);
    if (adder->firsts == NULL || adder->tails == NULL || adder->rooms == NULL)
        return error_set_memory(error);
    return KSV_OK;
}

void entry_adder_release(entry_adder *adder)
{
    chunk_pool_release(&adder->pool);
    memory_free(adder->allocator, adder->firsts,
                adder->partitions * sizeof(entry_chunk *));
    memory_free(adder->allocator, adder->tails,
                adder->partitions * sizeof(hash_entry *));
    memory_free(adder->allocator, adder->rooms,
                adder->partitions * sizeof *adder->rooms);
    adder->firsts = NULL;
    adder->tails = NULL;
    adder->rooms = NULL;
}

/* The chunk that ends at or holds what is before `tail`. */
static entry_chunk *chunk_before(hash_entry *tail)
{
    uintptr_t last = (uintptr_t)(tail - 1);
    return (entry_chunk *)(last - last % CHUNK_BYTES);
}

ksv_status entry_adder_extend(entry_adder *adder, size_t partition,
                              ksv_error *error)
{
    bool full;
    entry_chunk *chunk = chunk_pool_take(&adder->pool, &full);
    if (chunk == NULL && full && adder->spill != NULL) {
        KSV_TRY(entry_adder_spill(adder, error));
        chunk = chunk_pool_take(&adder->pool, &full);
    }
    if (chunk == NULL)
        return error_set_memory(error);
    chunk->first = 0;
    if (adder->tails[partition] == NULL) {
        chunk->first = partition * FIRST_STEP % CHUNK_ENTRIES;
        adder->firsts[partition] = chunk;
    } else {
        chunk_before(adder->tails[partition])->next = chunk;
    }
    adder->tails[partition] = chunk->entries + chunk->first;
    adder->rooms[partition] += CHUNK_ENTRIES - chunk->first;
    return KSV_OK;
}

ksv_status entry_adder_add_many(entry_adder *adder, const hash_entry *entries,
                                size_t count, ksv_error *error)
{
    hash_entry **tails = adder->tails;
    const unsigned shift = adder->shift;
    for (size_t i = 0; i < count; i++) {
        size_t partition = (size_t)(entries[i].hash >> shift);
        if ((uintptr_t)tails[partition] % CHUNK_BYTES == 0)
            KSV_TRY(entry_adder_extend(adder, partition, error));
        hash_entry *tail = tails[partition]++;
        *tail = entries[i];
        /* The next line of the cache comes while others are filled. */
        MEMORY_PREFETCH_TO_WRITE(tail + LINE_ENTRIES);
        adder->in_memory++;
    }
    return KSV_OK;
}

size_t entry_adder_chunk_count(const entry_adder *adder, size_t partition,
                               const entry_chunk *chunk)
{
    if (chunk->next != NULL)
        return CHUNK_ENTRIES - chunk->first;
    return (size_t)(adder->tails[partition] - chunk->entries) - chunk->first;
}

size_t entry_adder_count(const entry_adder *adder, size_t partition)
{
    /* Without a look at the chunks, which are scattered. */
    uintptr_t used = (uintptr_t)adder->tails[partition] % CHUNK_BYTES;
    size_t left = used > 0 ? (CHUNK_BYTES - used) / sizeof(hash_entry) : 0;
    return (size_t)adder->rooms[partition] - left;
}

static uint64_t highest_payload(const entry_adder *adder)
{
    uint64_t all = 0;
    for (size_t p = 0; p < adder->partitions; p++)
        for (const entry_chunk *c = adder->firsts[p]; c != NULL; c = c->next) {
            size_t count = entry_adder_chunk_count(adder, p, c);
            for (size_t i = 0; i < count; i++)
                all |= c->entries[c->first + i].payload;
        }
    return all;
}

static ksv_status put_chunks(const entry_adder *adder, ksv_error *error)
{
    for (size_t p = 0; p < adder->partitions; p++) {
        for (const entry_chunk *c = adder->firsts[p]; c != NULL; c = c->next)
            KSV_TRY(spill_file_put(adder->spill, p, c->entries + c->first,
                                   entry_adder_chunk_count(adder, p, c),
                                   error));
    }
    return KSV_OK;
}

ksv_status entry_adder_spill(entry_adder *adder, ksv_error *error)
{
    if (adder->in_memory == 0)
        return KSV_OK;
    KSV_TRY(spill_file_begin_run(adder->spill, highest_payload(adder), error));
    ksv_status status = put_chunks(adder, error);
    status = spill_file_end_run(adder->spill, status, error);
    if (status != KSV_OK)
        return status;
    adder->spilled += adder->in_memory;
    adder->in_memory = 0;
    memset(adder->firsts, 0, adder->partitions * sizeof(entry_chunk *));
    memset(adder->tails, 0, adder->partitions * sizeof(hash_entry *));
    memset(adder->rooms, 0, adder->partitions * sizeof *adder->rooms);
    chunk_pool_reset(&adder->pool);
    return KSV_OK;
}
