/* SPDX-License-Identifier: MIT */
/* The keys that came last, in memory, in the order of their hashes. */
#include "dedup/recent_keys.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/prefetch.h"
#include "io/large_pages.h"

/* Chunks of keys are a sixteenth of the memory, within these bounds: of larger
 * ones more lies in large pages. */
#define CHUNK_BITS_MIN 20
#define CHUNK_BITS_MAX 25
#define CHUNKS_WANTED 16
#define SLOT_BITS_MIN 10
#define SLOT_BITS_MAX 31
/* Behind the last slot of the top bits: probing never wraps around, so that
 * the order of slots is that of hashes. */
#define OVERFLOW_SLOTS 1024
/* A slot is free, or has bits 63..32 of the hash and a reference + 1. */
#define FREE_SLOT UINT64_MAX

enum {
    UNIT_BYTES = 8,
    UNIT_BITS = 3,
    VISIT_AHEAD = 24,
    SLOTS_AHEAD = 3,
    SHORT_KEY_BYTES = 16
};

typedef struct key_chunk {
    uint8_t *data;
    size_t size_bytes;
} key_chunk;

struct recent_keys {
    ksv_allocator allocator;
    uint64_t limit_bytes;
    uint64_t chunk_memory; /* bytes of all chunks */
    uint64_t *slots;
    unsigned slot_bits;
    uint64_t count;
    int64_t earliest_ms;
    unsigned chunk_bits; /* of the size of most chunks */
    key_chunk *chunks;
    size_t chunk_count;
    size_t chunk_capacity;
    size_t current; /* the chunk that is being filled */
    size_t used;    /* bytes of it */
};

static size_t slot_count(unsigned slot_bits)
{
    return ((size_t)1 << slot_bits) + OVERFLOW_SLOTS;
}

static uint64_t slot_bytes(unsigned slot_bits)
{
    return slot_count(slot_bits) * sizeof(uint64_t);
}

static size_t home_of(const recent_keys *k, uint64_t hash)
{
    return (size_t)(hash >> (64 - k->slot_bits));
}

static uint64_t slot_of(uint64_t hash, uint32_t reference)
{
    return (hash & ~(uint64_t)UINT32_MAX) | reference;
}

/* Of a chunk, in a reference. */
static unsigned unit_bits(const recent_keys *k)
{
    return k->chunk_bits - UNIT_BITS;
}

static size_t chunk_bytes(const recent_keys *k)
{
    return (size_t)1 << k->chunk_bits;
}

static recent_key *key_at(const recent_keys *k, uint64_t slot)
{
    uint32_t reference = (uint32_t)slot;
    const key_chunk *chunk = &k->chunks[reference >> unit_bits(k)];
    size_t unit = reference & ((1u << unit_bits(k)) - 1);
    return (recent_key *)(void *)(chunk->data + unit * UNIT_BYTES);
}

static ksv_status make_slots(recent_keys *k, unsigned slot_bits,
                             uint64_t **slots, ksv_error *error)
{
    *slots = memory_alloc(&k->allocator, (size_t)slot_bytes(slot_bits));
    if (*slots == NULL)
        return error_set_memory(error);
    large_pages_ask(*slots, (size_t)slot_bytes(slot_bits));
    memset(*slots, 0xff, (size_t)slot_bytes(slot_bits));
    return KSV_OK;
}

ksv_status recent_keys_open(uint64_t memory_bytes,
                            const ksv_allocator *allocator, recent_keys **out,
                            ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    recent_keys *k = memory_zalloc(&a, sizeof *k);
    if (k == NULL)
        return error_set_memory(error);
    k->allocator = a;
    k->limit_bytes = memory_bytes;
    k->slot_bits = SLOT_BITS_MIN;
    k->chunk_bits = CHUNK_BITS_MIN;
    while (k->chunk_bits < CHUNK_BITS_MAX &&
           memory_bytes / CHUNKS_WANTED >= 2 * (uint64_t)chunk_bytes(k))
        k->chunk_bits++;
    k->earliest_ms = INT64_MAX;
    ksv_status status = make_slots(k, SLOT_BITS_MIN, &k->slots, error);
    if (status != KSV_OK) {
        recent_keys_close(k);
        return status;
    }
    *out = k;
    return KSV_OK;
}

static void free_chunks(recent_keys *k, size_t keep)
{
    while (k->chunk_count > keep) {
        key_chunk *chunk = &k->chunks[--k->chunk_count];
        k->chunk_memory -= chunk->size_bytes;
        memory_free(&k->allocator, chunk->data, chunk->size_bytes);
    }
}

void recent_keys_close(recent_keys *k)
{
    if (k == NULL)
        return;
    ksv_allocator a = k->allocator;
    free_chunks(k, 0);
    memory_free(&a, k->chunks, k->chunk_capacity * sizeof *k->chunks);
    if (k->slots != NULL)
        memory_free(&a, k->slots, (size_t)slot_bytes(k->slot_bits));
    memory_free(&a, k, sizeof *k);
}

void recent_keys_prefetch(const recent_keys *k, uint64_t hash)
{
    const uint64_t *home = &k->slots[home_of(k, hash)];
    MEMORY_PREFETCH(home);
    /* Most searches end within so many, which may be in the next line. */
    MEMORY_PREFETCH(home + SLOTS_AHEAD);
}

static bool is_key(const recent_key *entry, uint64_t hash, const void *key,
                   size_t key_bytes)
{
    return entry->hash == hash && entry->key_bytes == key_bytes &&
           memcmp(entry->key, key, key_bytes) == 0;
}

recent_key *recent_keys_find(const recent_keys *k, uint64_t hash,
                             const void *key, size_t key_bytes)
{
    size_t last = slot_count(k->slot_bits);
    for (size_t i = home_of(k, hash); i < last; i++) {
        uint64_t slot = k->slots[i];
        if (slot == FREE_SLOT)
            return NULL;
        if ((slot ^ hash) >> 32 != 0)
            continue;
        recent_key *entry = key_at(k, slot);
        if (is_key(entry, hash, key, key_bytes))
            return entry;
    }
    return NULL;
}

/* False: there is no free slot behind the home of the hash. */
static bool place(const recent_keys *k, uint64_t slot)
{
    size_t last = slot_count(k->slot_bits);
    for (size_t i = home_of(k, slot); i < last; i++) {
        if (k->slots[i] == FREE_SLOT) {
            k->slots[i] = slot;
            return true;
        }
    }
    return false;
}

/* Twice as many slots, if they may be had; `*has_grown` says so. */
static ksv_status grow_slots(recent_keys *k, bool *has_grown, ksv_error *error)
{
    *has_grown = false;
    unsigned more = k->slot_bits + 1;
    if (more > SLOT_BITS_MAX ||
        k->chunk_memory + slot_bytes(k->slot_bits) + slot_bytes(more) >
            k->limit_bytes)
        return KSV_OK;
    recent_keys wider = *k;
    wider.slot_bits = more;
    KSV_TRY(make_slots(k, more, &wider.slots, error));
    bool fits = true;
    for (size_t i = 0; i < slot_count(k->slot_bits) && fits; i++)
        fits = k->slots[i] == FREE_SLOT || place(&wider, k->slots[i]);
    if (!fits) {
        memory_free(&k->allocator, wider.slots, (size_t)slot_bytes(more));
        return KSV_OK;
    }
    memory_free(&k->allocator, k->slots, (size_t)slot_bytes(k->slot_bits));
    *k = wider;
    *has_grown = true;
    return KSV_OK;
}

/* A new chunk with room for `bytes`; `*has_room` false: it may not be had. */
static ksv_status add_chunk(recent_keys *k, size_t bytes, bool *has_room,
                            ksv_error *error)
{
    size_t size = bytes > chunk_bytes(k) ? bytes : chunk_bytes(k);
    *has_room = false;
    bool fits =
        k->chunk_memory + size + slot_bytes(k->slot_bits) <= k->limit_bytes &&
        k->chunk_count < (size_t)1 << (32 - unit_bits(k));
    if (!fits && k->count > 0)
        return KSV_OK;
    void *items = k->chunks;
    ksv_status status =
        memory_grow(&k->allocator, &items, &k->chunk_capacity,
                    k->chunk_count + 1, sizeof *k->chunks, error);
    k->chunks = items;
    KSV_TRY(status);
    uint8_t *data = memory_alloc(&k->allocator, size);
    if (data == NULL)
        return error_set_memory(error);
    large_pages_ask(data, size);
    k->chunks[k->chunk_count++] = (key_chunk){data, size};
    k->chunk_memory += size;
    *has_room = true;
    return KSV_OK;
}

/* Moves to a chunk with room for `bytes`. */
static ksv_status find_room(recent_keys *k, size_t bytes, bool *has_room,
                            ksv_error *error)
{
    *has_room = true;
    for (;;) {
        if (k->current < k->chunk_count &&
            bytes <= k->chunks[k->current].size_bytes - k->used)
            return KSV_OK;
        if (k->current + 1 >= k->chunk_count)
            break;
        k->current++;
        k->used = 0;
    }
    KSV_TRY(add_chunk(k, bytes, has_room, error));
    if (*has_room) {
        k->current = k->chunk_count - 1;
        k->used = 0;
    }
    return KSV_OK;
}

/* Slots get full at 5/8: probes stay short, and runs of slots, which are sorted
 * when the table is visited, too. */
static bool is_crowded(const recent_keys *k)
{
    return k->count >= (UINT64_C(5) << k->slot_bits) / 8;
}

ksv_status recent_keys_add(recent_keys *k, uint64_t hash, const void *key,
                           size_t key_bytes, int64_t time_ms,
                           recent_key **added, ksv_error *error)
{
    *added = NULL;
    bool has_room = true;
    if (key_bytes > SIZE_MAX / 2)
        return error_set_memory(error);
    size_t bytes = (offsetof(recent_key, key) + key_bytes + UNIT_BYTES - 1) /
                   UNIT_BYTES * UNIT_BYTES;
    if (is_crowded(k))
        KSV_TRY(grow_slots(k, &has_room, error));
    if (!has_room)
        return KSV_OK;
    KSV_TRY(find_room(k, bytes, &has_room, error));
    if (!has_room)
        return KSV_OK;
    uint32_t reference =
        (uint32_t)(k->current << unit_bits(k) | k->used / UNIT_BYTES);
    uint64_t slot = slot_of(hash, reference);
    /* The highest slot is not to be taken for a free one. */
    if (slot == FREE_SLOT || !place(k, slot))
        return KSV_OK;
    recent_key *entry = key_at(k, slot);
    *entry =
        (recent_key){.hash = hash, .time_ms = time_ms, .key_bytes = key_bytes};
    memcpy(entry->key, key, key_bytes);
    k->used += bytes;
    k->count++;
    if (time_ms < k->earliest_ms)
        k->earliest_ms = time_ms;
    *added = entry;
    return KSV_OK;
}

uint64_t recent_keys_count(const recent_keys *k)
{
    return k->count;
}

int64_t recent_keys_earliest_ms(const recent_keys *k)
{
    return k->earliest_ms;
}

uint64_t recent_keys_memory_bytes(const recent_keys *k)
{
    return k->chunk_memory + slot_bytes(k->slot_bits);
}

/* Sorts slots that follow each other without a gap by the whole hashes. They
 * are almost sorted; but many equal hashes must not take long either. */
static void sort_run(const recent_keys *k, uint64_t *slots, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t slot = slots[i];
        uint64_t hash = key_at(k, slot)->hash;
        size_t j = i;
        for (; j > 0 && key_at(k, slots[j - 1])->hash > hash; j--)
            slots[j] = slots[j - 1];
        slots[j] = slot;
    }
}

static ksv_status visit_run(recent_keys *k, size_t first, size_t count,
                            recent_keys_fn visit, void *ctx, ksv_error *error)
{
    sort_run(k, k->slots + first, count);
    for (size_t i = first; i < first + count; i++)
        KSV_TRY(visit(ctx, key_at(k, k->slots[i]), error));
    return KSV_OK;
}

/* The entry of a short key lies in one cache line or in two. */
static void prefetch_key(const recent_key *entry)
{
    MEMORY_PREFETCH(entry);
    MEMORY_PREFETCH(entry->key + SHORT_KEY_BYTES - 1);
}

ksv_status recent_keys_visit(recent_keys *k, recent_keys_fn visit, void *ctx,
                             ksv_error *error)
{
    size_t last = slot_count(k->slot_bits);
    size_t run = 0;
    for (size_t i = 0; i < last; i++) {
        if (i + VISIT_AHEAD < last && k->slots[i + VISIT_AHEAD] != FREE_SLOT)
            prefetch_key(key_at(k, k->slots[i + VISIT_AHEAD]));
        if (k->slots[i] != FREE_SLOT) {
            run++;
            continue;
        }
        if (run > 0)
            KSV_TRY(visit_run(k, i - run, run, visit, ctx, error));
        run = 0;
    }
    return run > 0 ? visit_run(k, last - run, run, visit, ctx, error) : KSV_OK;
}

void recent_keys_clear(recent_keys *k)
{
    memset(k->slots, 0xff, (size_t)slot_bytes(k->slot_bits));
    size_t keep = 0;
    while (keep < k->chunk_count &&
           k->chunks[keep].size_bytes == chunk_bytes(k))
        keep++;
    free_chunks(k, keep);
    k->count = 0;
    k->earliest_ms = INT64_MAX;
    k->current = 0;
    k->used = 0;
}
