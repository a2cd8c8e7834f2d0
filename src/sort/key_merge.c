/* SPDX-License-Identifier: MIT */
/* Several sorted sources of entries of whole keys as one: a tree of losers. */
#include "sort/key_merge.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "sort/key_order.h"

/* Keys of a chunk lie in the order in which they came: the memory is asked for
 * them so many entries ahead. */
#define AHEAD_ITEMS 6

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

typedef struct merge_source {
    uint64_t head; /* of the entry */
    key_entry entry;
    bool ended;
    const key_chunk *chunk; /* NULL: a run */
    size_t next_item;
    key_run_reader reader;
    const uint8_t *common; /* what all keys begin with */
    size_t common_bytes;
} merge_source;

struct key_merge {
    const ksv_allocator *allocator;
    merge_source *sources;
    size_t capacity;
    size_t count;
    size_t depth; /* bytes that all keys of all sources begin with */
    /* For each match, but for number 0, the source that lost it; the winner of
     * all is `winner`. Sources are the leaves `count`..2 * `count` - 1. */
    size_t *losers;
    size_t winner;
    bool started;
};

ksv_status key_merge_open(const ksv_allocator *allocator, size_t most_sources,
                          key_merge **out, ksv_error *error)
{
    *out = NULL;
    key_merge *m = memory_zalloc(allocator, sizeof *m);
    if (m == NULL)
        return error_set_memory(error);
    m->allocator = allocator;
    m->capacity = most_sources;
    m->sources =
        memory_zalloc_array(allocator, most_sources, sizeof *m->sources);
    m->losers = memory_zalloc_array(allocator, most_sources, sizeof *m->losers);
    if (m->sources == NULL || m->losers == NULL) {
        key_merge_close(m);
        return error_set_memory(error);
    }
    *out = m;
    return KSV_OK;
}

void key_merge_close(key_merge *merge)
{
    if (merge == NULL)
        return;
    const ksv_allocator *a = merge->allocator;
    for (size_t i = 0; i < merge->count; i++)
        key_run_reader_close(&merge->sources[i].reader);
    memory_free(a, merge->sources, merge->capacity * sizeof *merge->sources);
    memory_free(a, merge->losers, merge->capacity * sizeof *merge->losers);
    memory_free(a, merge, sizeof *merge);
}

void key_merge_add_chunk(key_merge *merge, const key_chunk *chunk)
{
    if (chunk->count == 0)
        return;
    merge_source *s = &merge->sources[merge->count++];
    const key_item *first = &chunk->items[0];
    const key_item *last = &chunk->items[chunk->count - 1];
    size_t most =
        first->key_bytes < last->key_bytes ? first->key_bytes : last->key_bytes;
    s->chunk = chunk;
    s->common = key_chunk_key(chunk, first);
    s->common_bytes =
        bytes_common(s->common, key_chunk_key(chunk, last), 0, most);
}

ksv_status key_merge_add_run(key_merge *merge, const key_run_file *file,
                             size_t run, size_t buffer_bytes, ksv_error *error)
{
    merge_source *s = &merge->sources[merge->count++];
    s->common = file->runs[run].common;
    s->common_bytes = file->runs[run].common_bytes;
    return key_run_reader_open(&s->reader, file, run, buffer_bytes, error);
}

static void take_item(merge_source *s)
{
    const key_chunk *chunk = s->chunk;
    s->ended = s->next_item == chunk->count;
    if (s->ended)
        return;
    const key_item *item = &chunk->items[s->next_item++];
    if (chunk->count - s->next_item > AHEAD_ITEMS)
        PREFETCH(key_chunk_key(chunk, item + AHEAD_ITEMS));
    s->entry =
        (key_entry){key_chunk_key(chunk, item), item->key_bytes, item->payload};
}

static ksv_status advance(const key_merge *merge, merge_source *s,
                          ksv_error *error)
{
    if (s->chunk != NULL)
        take_item(s);
    else
        KSV_TRY(key_run_reader_next(&s->reader, &s->entry, &s->ended, error));
    if (s->ended)
        return KSV_OK;
    if (s->entry.key_bytes < merge->depth)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "a temporary file is not as it was written");
    s->head = key_head(s->entry.key, s->entry.key_bytes, merge->depth);
    return KSV_OK;
}

static bool comes_before(const key_merge *merge, size_t a, size_t b)
{
    const merge_source *x = &merge->sources[a], *y = &merge->sources[b];
    if (x->ended || y->ended)
        return !x->ended;
    if (x->head != y->head)
        return x->head < y->head;
    int order = bytes_compare(x->entry.key, x->entry.key_bytes, y->entry.key,
                              y->entry.key_bytes, merge->depth);
    return order < 0 || (order == 0 && x->entry.payload < y->entry.payload);
}

/* Plays all matches: each winner goes up from its leaf until it meets a match
 * that has not been played, where it waits as its loser. */
static void play_all(key_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++)
        merge->losers[i] = SIZE_MAX;
    for (size_t leaf = merge->count; leaf-- > 0;) {
        size_t winner = leaf;
        size_t match = (leaf + merge->count) / 2;
        for (; match > 0 && merge->losers[match] != SIZE_MAX; match /= 2) {
            size_t other = merge->losers[match];
            if (comes_before(merge, other, winner)) {
                merge->losers[match] = winner;
                winner = other;
            }
        }
        if (match > 0)
            merge->losers[match] = winner;
        else
            merge->winner = winner;
    }
}

static void replay(key_merge *merge)
{
    size_t winner = merge->winner;
    for (size_t match = (winner + merge->count) / 2; match > 0; match /= 2) {
        size_t other = merge->losers[match];
        if (comes_before(merge, other, winner)) {
            merge->losers[match] = winner;
            winner = other;
        }
    }
    merge->winner = winner;
}

static void find_depth(key_merge *merge)
{
    const merge_source *first = &merge->sources[0];
    merge->depth = first->common_bytes;
    for (size_t i = 1; i < merge->count; i++) {
        const merge_source *s = &merge->sources[i];
        size_t most =
            s->common_bytes < merge->depth ? s->common_bytes : merge->depth;
        merge->depth = bytes_common(first->common, s->common, 0, most);
    }
}

static ksv_status start(key_merge *merge, ksv_error *error)
{
    merge->started = true;
    find_depth(merge);
    for (size_t i = 0; i < merge->count; i++)
        KSV_TRY(advance(merge, &merge->sources[i], error));
    play_all(merge);
    return KSV_OK;
}

ksv_status key_merge_next(key_merge *merge, key_entry *entry, bool *end,
                          ksv_error *error)
{
    *end = merge->count == 0;
    if (*end)
        return KSV_OK;
    if (!merge->started) {
        KSV_TRY(start(merge, error));
    } else {
        KSV_TRY(advance(merge, &merge->sources[merge->winner], error));
        replay(merge);
    }
    *end = merge->sources[merge->winner].ended;
    *entry = merge->sources[merge->winner].entry;
    return KSV_OK;
}

ksv_status key_merge_write(key_merge *merge, key_run_file *file,
                           ksv_error *error)
{
    KSV_TRY(key_run_begin(file, error));
    for (;;) {
        key_entry entry;
        bool end;
        KSV_TRY(key_merge_next(merge, &entry, &end, error));
        if (end)
            return key_run_end(file, error);
        KSV_TRY(key_run_put(file, &entry, error));
    }
}
