/* SPDX-License-Identifier: MIT */
/* Tells keys that were passed from those that were not, without a mistake. */
#include "dedup/exact_keys.h"

#include "base/error.h"
#include "base/memory.h"

/* Keys whose slots are on the way from memory. */
enum { KEYS_AHEAD = 24 };

/* A key of a batch that waits for the answer of the runs: its own, or that of
 * an equal one before it. */
typedef struct waiting_key {
    size_t index;
    recent_key *entry;
} waiting_key;

struct exact_keys {
    ksv_allocator allocator;
    int64_t window_ms;
    recent_keys *recent;
    run_set *runs;
    uint64_t flushes;
    size_t pending_count;
    size_t follower_count;
    waiting_key pending[EXACT_KEYS_BATCH];
    waiting_key followers[EXACT_KEYS_BATCH];
    run_query queries[EXACT_KEYS_BATCH];
};

ksv_status exact_keys_open(const run_set_options *options, exact_keys **out,
                           ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(options->allocator);
    exact_keys *e = memory_zalloc(&a, sizeof *e);
    if (e == NULL)
        return error_set_memory(error);
    e->allocator = a;
    e->window_ms = options->window_ms;
    /* The rest is for what reads and writes records. */
    run_set_options runs = *options;
    runs.memory_bytes = options->memory_bytes / 4 * 3;
    ksv_status status =
        recent_keys_open(options->memory_bytes / 16 * 3, &a, &e->recent, error);
    if (status == KSV_OK)
        status = run_set_open(&runs, &e->runs, error);
    if (status != KSV_OK) {
        exact_keys_close(e);
        return status;
    }
    *out = e;
    return KSV_OK;
}

void exact_keys_close(exact_keys *e)
{
    if (e == NULL)
        return;
    ksv_allocator a = e->allocator;
    recent_keys_close(e->recent);
    run_set_close(e->runs);
    memory_free(&a, e, sizeof *e);
}

/* What was passed at that time or before is forgotten at `now_ms`. */
static int64_t forgotten_ms(const exact_keys *e, int64_t now_ms)
{
    return e->window_ms > 0 ? now_ms - e->window_ms : INT64_MIN;
}

/* The key of `entry` comes again. */
static bool pass_again(const exact_keys *e, recent_key *entry, int64_t time_ms)
{
    if (entry->time_ms > forgotten_ms(e, time_ms))
        return false;
    entry->time_ms = time_ms;
    entry->on_disk = false;
    return true;
}

static ksv_status ask_runs(exact_keys *e, const offered_key *keys,
                           ksv_error *error)
{
    for (size_t i = 0; i < e->pending_count; i++) {
        const offered_key *key = &keys[e->pending[i].index];
        e->queries[i] = (run_query){
            .hash = key->hash,
            .key = key->key,
            .key_bytes = key->key_bytes,
            .after_ms = forgotten_ms(e, key->time_ms),
        };
    }
    return run_set_query(e->runs, e->queries, e->pending_count, error);
}

/* Decides all that waits. */
static ksv_status resolve(exact_keys *e, const offered_key *keys, bool *fresh,
                          ksv_error *error)
{
    KSV_TRY(ask_runs(e, keys, error));
    for (size_t i = 0; i < e->pending_count; i++) {
        recent_key *entry = e->pending[i].entry;
        const run_query *query = &e->queries[i];
        entry->is_pending = false;
        fresh[e->pending[i].index] = !query->found;
        if (query->found) {
            /* Kept in memory: who comes twice often comes again. */
            entry->on_disk = true;
            entry->time_ms = query->time_ms;
        }
    }
    for (size_t i = 0; i < e->follower_count; i++) {
        size_t index = e->followers[i].index;
        fresh[index] =
            pass_again(e, e->followers[i].entry, keys[index].time_ms);
    }
    e->pending_count = 0;
    e->follower_count = 0;
    return KSV_OK;
}

ksv_status exact_keys_flush(exact_keys *e, int64_t now_ms, ksv_error *error)
{
    if (recent_keys_count(e->recent) == 0)
        return KSV_OK;
    KSV_TRY(run_set_add(e->runs, e->recent, now_ms, error));
    recent_keys_clear(e->recent);
    e->flushes++;
    return KSV_OK;
}

static ksv_status add_after_flush(exact_keys *e, const offered_key *key,
                                  recent_key **entry, ksv_error *error)
{
    KSV_TRY(exact_keys_flush(e, key->time_ms, error));
    KSV_TRY(recent_keys_add(e->recent, key->hash, key->key, key->key_bytes,
                            key->time_ms, entry, error));
    return *entry != NULL ? KSV_OK : error_set_memory(error);
}

/* A key that is not in memory: it waits there for the answer of the runs. */
static ksv_status add_pending(exact_keys *e, const offered_key *keys,
                              size_t index, bool *fresh, ksv_error *error)
{
    const offered_key *key = &keys[index];
    recent_key *entry;
    KSV_TRY(recent_keys_add(e->recent, key->hash, key->key, key->key_bytes,
                            key->time_ms, &entry, error));
    if (entry == NULL) {
        KSV_TRY(resolve(e, keys, fresh, error));
        KSV_TRY(add_after_flush(e, key, &entry, error));
    }
    entry->is_pending = true;
    e->pending[e->pending_count++] = (waiting_key){index, entry};
    return KSV_OK;
}

ksv_status exact_keys_decide(exact_keys *e, const offered_key *keys,
                             size_t count, bool *fresh, ksv_error *error)
{
    for (size_t i = 0; i < count && i < KEYS_AHEAD; i++)
        recent_keys_prefetch(e->recent, keys[i].hash);
    for (size_t i = 0; i < count; i++) {
        const offered_key *key = &keys[i];
        if (i + KEYS_AHEAD < count)
            recent_keys_prefetch(e->recent, keys[i + KEYS_AHEAD].hash);
        recent_key *entry =
            recent_keys_find(e->recent, key->hash, key->key, key->key_bytes);
        if (entry == NULL)
            KSV_TRY(add_pending(e, keys, i, fresh, error));
        else if (entry->is_pending)
            e->followers[e->follower_count++] = (waiting_key){i, entry};
        else
            fresh[i] = pass_again(e, entry, key->time_ms);
    }
    return resolve(e, keys, fresh, error);
}

ksv_status exact_keys_note(exact_keys *e, const offered_key *key,
                           ksv_error *error)
{
    recent_key *entry =
        recent_keys_find(e->recent, key->hash, key->key, key->key_bytes);
    if (entry == NULL)
        KSV_TRY(recent_keys_add(e->recent, key->hash, key->key, key->key_bytes,
                                key->time_ms, &entry, error));
    if (entry == NULL)
        KSV_TRY(add_after_flush(e, key, &entry, error));
    if (entry->time_ms < key->time_ms)
        entry->time_ms = key->time_ms;
    entry->on_disk = false;
    return KSV_OK;
}

uint64_t exact_keys_flushes(const exact_keys *e)
{
    return e->flushes;
}

run_set *exact_keys_runs(exact_keys *e)
{
    return e->runs;
}

uint64_t exact_keys_memory_bytes(const exact_keys *e)
{
    run_set_cost cost;
    run_set_get_cost(e->runs, &cost);
    return recent_keys_memory_bytes(e->recent) + cost.memory_bytes;
}
