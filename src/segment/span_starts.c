/* SPDX-License-Identifier: MIT */
/* The first keys of spans of a data file, for as long as its records come in
 * the order of their keys. Each adder sees pieces of the data in their order:
 * within one it compares all neighbours, and where pieces of several meet the
 * last key before and the first one behind are compared at the end. */
#include "segment/span_starts.h"

#include <string.h>

#include "base/error.h"
#include "segment/sparse_span.h"

#define SPAN_BYTES ((uint64_t)64 << 10)

/* A smaller file has a small table anyhow. */
#define LEAST_DATA_BYTES ((uint64_t)1 << 20)
/* With fewer records a span, an entry for each costs little. */
#define LEAST_SPAN_RECORDS 16

ksv_status span_starts_init(span_starts *starts, const ksv_allocator *allocator,
                            unsigned adders, uint64_t most_bytes,
                            ksv_error *error)
{
    memset(starts, 0, sizeof *starts);
    starts->allocator = allocator;
    starts->adder_count = adders > 0 ? adders : 1;
    starts->most_bytes = most_bytes;
    starts->adders = memory_zalloc_array(allocator, starts->adder_count,
                                         sizeof *starts->adders);
    starts->next = memory_zalloc_array(allocator, starts->adder_count,
                                       sizeof *starts->next);
    if (starts->adders == NULL || starts->next == NULL)
        return error_set_memory(error);
    for (unsigned i = 0; i < starts->adder_count; i++) {
        buffer_init(&starts->adders[i].keys, allocator);
        buffer_init(&starts->adders[i].last, allocator);
    }
    return KSV_OK;
}

static void release_adder(span_starts *s, start_adder *a)
{
    memory_free(s->allocator, a->starts, a->capacity * sizeof *a->starts);
    buffer_release(&a->keys);
    buffer_release(&a->last);
    memset(a, 0, sizeof *a);
    buffer_init(&a->keys, s->allocator);
    buffer_init(&a->last, s->allocator);
}

void span_starts_release(span_starts *starts)
{
    if (starts->allocator == NULL)
        return;
    unsigned count = starts->adder_count;
    for (unsigned i = 0; starts->adders != NULL && i < count; i++)
        release_adder(starts, &starts->adders[i]);
    memory_free(starts->allocator, starts->adders,
                count * sizeof *starts->adders);
    memory_free(starts->allocator, starts->next, count * sizeof *starts->next);
    memset(starts, 0, sizeof *starts);
}

/* Of a sum that is the same for any number of adders: so is what comes of it.
 */
static bool fits(span_starts *s, uint64_t more_bytes)
{
    uint64_t before = atomic_fetch_add_explicit(&s->used_bytes, more_bytes,
                                                memory_order_relaxed);
    return before + more_bytes <= s->most_bytes;
}

static void give_up(span_starts *s)
{
    atomic_store_explicit(&s->is_off, true, memory_order_relaxed);
}

/* Keeps the last key of the span that was begun last. */
static ksv_status end_span(start_adder *a, sorted_key last, ksv_error *error)
{
    span_start *start = &a->starts[a->count - 1];
    start->has_last = true;
    start->last_bytes = (uint32_t)last.size_bytes;
    return buffer_append(&a->keys, last.data, last.size_bytes, error);
}

static ksv_status begin_span(span_starts *s, start_adder *a, sorted_key key,
                             uint64_t offset, bool is_new, ksv_error *error)
{
    if (key.size_bytes > SPARSE_SPAN_MOST_BYTES ||
        !fits(s, key.size_bytes + sizeof(span_start))) {
        give_up(s);
        return KSV_OK;
    }
    void *items = a->starts;
    ksv_status status = memory_grow(s->allocator, &items, &a->capacity,
                                    a->count + 1, sizeof *a->starts, error);
    a->starts = items;
    KSV_TRY(status);
    a->starts[a->count++] = (span_start){.offset = offset,
                                         .key_at = a->keys.size,
                                         .key_bytes = (uint32_t)key.size_bytes,
                                         .is_new = is_new};
    a->span = offset / SPAN_BYTES;
    return buffer_append(&a->keys, key.data, key.size_bytes, error);
}

static ksv_status take(span_starts *s, start_adder *a, sorted_key before,
                       sorted_key key, uint64_t offset, ksv_error *error)
{
    int order = a->records > 0 ? sorted_key_compare(before, key) : -1;
    if (order > 0) {
        give_up(s);
        return KSV_OK;
    }
    uint64_t span = offset / SPAN_BYTES;
    a->last_offset = offset;
    if (a->records++ > 0 && span == a->span) {
        a->starts[a->count - 1].changes += order < 0;
        return KSV_OK;
    }
    /* What is next to it is of this adder, too. */
    if (a->count > 0 && span != a->span + 1)
        KSV_TRY(end_span(a, before, error));
    return begin_span(s, a, key, offset, order < 0, error);
}

ksv_status span_starts_add(span_starts *starts, unsigned adder,
                           const collector_batch *batch, ksv_error *error)
{
    start_adder *a = &starts->adders[adder];
    const hash_entry *entry = batch->entries;
    sorted_key last = {a->last.data, a->last.size};
    bool is_off = atomic_load_explicit(&starts->is_off, memory_order_relaxed);
    for (size_t i = 0; i < batch->record_count && !is_off; i++) {
        const scan_record *record = &batch->records[i];
        if (record->kind == SCAN_RECORD_BAD)
            give_up(starts);
        if (record->kind == SCAN_RECORD_KEYED) {
            sorted_key key = {record->key, record->key_bytes};
            KSV_TRY(take(starts, a, last, key, (entry++)->payload, error));
            last = key;
        }
        is_off = atomic_load_explicit(&starts->is_off, memory_order_relaxed);
    }
    if (is_off) {
        release_adder(starts, a);
        return KSV_OK;
    }
    if (last.data == a->last.data)
        return KSV_OK;
    buffer_clear(&a->last);
    return buffer_append(&a->last, last.data, last.size_bytes, error);
}

void span_starts_rewind(span_starts *starts)
{
    memset(starts->next, 0, starts->adder_count * sizeof *starts->next);
    starts->gave_last = false;
}

static sorted_key first_key(const start_adder *a, const span_start *start)
{
    return (sorted_key){a->keys.data + start->key_at, start->key_bytes};
}

/* The adder whose next start comes first, or NULL. */
static start_adder *choose(const span_starts *s)
{
    start_adder *best = NULL;
    for (unsigned i = 0; i < s->adder_count; i++) {
        start_adder *a = &s->adders[i];
        if (s->next[i] < a->count &&
            (best == NULL ||
             a->starts[s->next[i]].offset <
                 best->starts[s->next[best - s->adders]].offset))
            best = a;
    }
    return best;
}

/* A start on the way through all, and whose it is; no adder: none. */
typedef struct start_at {
    const start_adder *adder;
    const span_start *start;
    sorted_key last; /* key, as far as known */
} start_at;

static start_at step(span_starts *s)
{
    const start_adder *a = choose(s);
    if (a == NULL)
        return (start_at){.adder = NULL};
    size_t number = s->next[a - s->adders]++;
    const span_start *start = &a->starts[number];
    sorted_key last = {NULL, 0};
    if (start->has_last)
        last = (sorted_key){a->keys.data + start->key_at + start->key_bytes,
                            start->last_bytes};
    else if (number + 1 == a->count)
        last = (sorted_key){a->last.data, a->last.size};
    return (start_at){a, start, last};
}

/* Whether `at` may follow `before`; `*is_new`: its first key is another one. */
static bool follows(const start_at *before, const start_at *at, bool *is_new)
{
    *is_new = true;
    if (before->adder == NULL)
        return true;
    *is_new = at->start->is_new;
    /* The next one of the same adder, which has compared them. */
    if (before->adder == at->adder)
        return true;
    if (before->last.data == NULL)
        return false;
    int order =
        sorted_key_compare(before->last, first_key(at->adder, at->start));
    *is_new = order < 0;
    return order <= 0;
}

bool span_starts_settle(span_starts *starts, uint64_t limit, uint64_t records,
                        span_starts_sum *sum)
{
    uint64_t taken = 0;
    uint64_t offset = 0;
    start_at before = {.adder = NULL};
    *sum = (span_starts_sum){0, 0};
    if (atomic_load(&starts->is_off) || limit < LEAST_DATA_BYTES)
        return false;
    for (unsigned i = 0; i < starts->adder_count; i++)
        taken += starts->adders[i].records;
    span_starts_rewind(starts);
    for (;;) {
        start_at at = step(starts);
        bool is_new;
        if (at.adder == NULL)
            break;
        if (!follows(&before, &at, &is_new) ||
            (sum->entries > 0 &&
             at.start->offset - offset > SPARSE_SPAN_MOST_BYTES))
            return false;
        offset = at.start->offset;
        sum->entries++;
        sum->distinct_keys += is_new + (uint64_t)at.start->changes;
        before = at;
    }
    return taken == records && sum->entries > 0 &&
           before.adder->last_offset < limit &&
           limit - offset <= SPARSE_SPAN_MOST_BYTES &&
           records / sum->entries >= LEAST_SPAN_RECORDS;
}

/* The record that comes last has an entry of its own, which tells where the
 * keys end. */
static bool find_last(const span_starts *s, sorted_key *key, uint64_t *offset)
{
    const start_adder *best = NULL;
    uint64_t highest = 0;
    for (unsigned i = 0; i < s->adder_count; i++) {
        const start_adder *a = &s->adders[i];
        if (a->count > 0 &&
            (best == NULL || a->last_offset > best->last_offset))
            best = a;
        if (a->count > 0 && a->starts[a->count - 1].offset > highest)
            highest = a->starts[a->count - 1].offset;
    }
    if (best == NULL || best->last_offset == highest)
        return false;
    *key = (sorted_key){best->last.data, best->last.size};
    *offset = best->last_offset;
    return true;
}

ksv_status span_starts_next(void *starts, sorted_key *key, uint64_t *payload,
                            bool *end, ksv_error *error)
{
    span_starts *s = starts;
    (void)error;
    start_at at = step(s);
    *end = false;
    if (at.adder != NULL) {
        *key = first_key(at.adder, at.start);
        *payload = at.start->offset;
        return KSV_OK;
    }
    *end = s->gave_last || !find_last(s, key, payload);
    s->gave_last = true;
    return KSV_OK;
}
