/* SPDX-License-Identifier: MIT */
/* Where one thread puts its entries: sorted chunks, and runs beyond a limit. */
#include "sort/key_adder.h"

#include "base/error.h"
#include "base/memory.h"
#include "sort/key_merge.h"
#include "sort/key_sort.h"

/* Chunks grow with what is there already, between these sizes: those of the
 * largest are sorted before the processor's cache has forgotten all of them. */
#define LEAST_CHUNK_BYTES ((size_t)64 << 10)
#define MOST_CHUNK_BYTES ((size_t)16 << 20)

ksv_status key_adder_init(key_adder *adder, const ksv_allocator *allocator,
                          uint64_t limit_bytes, const ksv_file_system *fs,
                          const char *directory, const char *name,
                          ksv_error *error)
{
    adder->allocator = allocator;
    adder->limit_bytes = fs != NULL ? limit_bytes : UINT64_MAX;
    if (fs == NULL)
        return KSV_OK;
    return key_run_file_init(&adder->runs, fs, allocator, directory, name,
                             error);
}

static void free_chunks(key_adder *adder)
{
    while (adder->first != NULL) {
        key_chunk *chunk = adder->first;
        adder->first = chunk->next;
        key_chunk_free(adder->allocator, chunk);
    }
    adder->last = adder->current = NULL;
    adder->total_bytes = 0;
}

void key_adder_release(key_adder *adder)
{
    if (adder->allocator == NULL)
        return;
    free_chunks(adder);
    key_run_file_release(&adder->runs);
}

void key_adder_sort(void *ctx)
{
    key_adder *adder = ctx;
    if (adder->current != NULL)
        key_sort_chunk(adder->current);
}

size_t key_adder_chunk_count(const key_adder *adder)
{
    size_t count = 0;
    for (const key_chunk *c = adder->first; c != NULL; c = c->next)
        count++;
    return count;
}

static ksv_status write_run(key_adder *adder, ksv_error *error)
{
    key_merge *merge;
    KSV_TRY(key_merge_open(adder->allocator, key_adder_chunk_count(adder),
                           &merge, error));
    for (key_chunk *c = adder->first; c != NULL; c = c->next)
        key_merge_add_chunk(merge, c);
    ksv_status status = key_merge_write(merge, &adder->runs, error);
    key_merge_close(merge);
    return status;
}

static ksv_status write_chunks(key_adder *adder, ksv_error *error)
{
    if (adder->current == NULL)
        return KSV_OK;
    key_adder_sort(adder);
    return write_run(adder, error);
}

ksv_status key_adder_spill(key_adder *adder, ksv_error *error)
{
    KSV_TRY(write_chunks(adder, error));
    free_chunks(adder);
    return KSV_OK;
}

/* Writes what is there, and keeps chunks of usual size; without entries they
 * are in the way of a key that fits in none of them. */
static ksv_status make_room(key_adder *adder, ksv_error *error)
{
    bool empty = adder->first->count == 0;
    if (!empty)
        KSV_TRY(write_chunks(adder, error));
    if (empty || adder->total_bytes > adder->limit_bytes)
        free_chunks(adder);
    for (key_chunk *c = adder->first; c != NULL; c = c->next)
        key_chunk_clear(c);
    adder->current = adder->first;
    return KSV_OK;
}

static size_t next_chunk_bytes(const key_adder *adder, size_t key_bytes)
{
    uint64_t wanted = adder->total_bytes;
    if (wanted > MOST_CHUNK_BYTES)
        wanted = MOST_CHUNK_BYTES;
    uint64_t left = adder->limit_bytes > adder->total_bytes
                        ? adder->limit_bytes - adder->total_bytes
                        : 0;
    if (wanted > left)
        wanted = left;
    if (wanted < LEAST_CHUNK_BYTES)
        wanted = LEAST_CHUNK_BYTES;
    size_t needed = key_chunk_bytes_for(key_bytes);
    return wanted > needed ? (size_t)wanted : needed;
}

static ksv_status append_chunk(key_adder *adder, size_t bytes, ksv_error *error)
{
    key_chunk *chunk = key_chunk_make(adder->allocator, bytes);
    if (chunk == NULL)
        return error_set_memory(error);
    if (adder->last != NULL)
        adder->last->next = chunk;
    else
        adder->first = chunk;
    adder->last = adder->current = chunk;
    adder->total_bytes += bytes;
    return KSV_OK;
}

/* Makes a chunk current in which there is room for the key, or which is empty.
 */
static ksv_status next_chunk(key_adder *adder, size_t key_bytes,
                             ksv_error *error)
{
    size_t bytes = next_chunk_bytes(adder, key_bytes);
    if (adder->current != NULL && adder->current->next != NULL) {
        key_adder_sort(adder);
        adder->current = adder->current->next;
        return KSV_OK;
    }
    bool fits = adder->total_bytes <= adder->limit_bytes &&
                bytes <= adder->limit_bytes - adder->total_bytes;
    if (!fits && adder->current != NULL)
        return make_room(adder, error);
    key_adder_sort(adder);
    return append_chunk(adder, bytes, error);
}

ksv_status key_adder_add(key_adder *adder, const void *key, size_t key_bytes,
                         uint64_t payload, ksv_error *error)
{
    if (key_bytes > KEY_CHUNK_MOST_KEY_BYTES)
        return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                         "a key of more than 1 GiB cannot be sorted");
    while (adder->current == NULL ||
           !key_chunk_add(adder->current, key, key_bytes, payload))
        KSV_TRY(next_chunk(adder, key_bytes, error));
    adder->count++;
    if (payload > adder->highest)
        adder->highest = payload;
    return KSV_OK;
}
