/* SPDX-License-Identifier: MIT */
/* The living entries of several segments as one ascending stream: a binary heap
 * over one walk a table. */
#include "segment/segment_merge.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "segment/organisation.h"

/* Pages of 4 KiB that are in memory of all tables together, unless there are
 * more tables than that, and of one. */
#define MERGE_PAGES 4096
#define INPUT_MOST_PAGES 32

/* An entry of an input, with its payload in the space of all. */
typedef struct heap_entry {
    table_entry entry;
    size_t input;
} heap_entry;

typedef struct merge_input {
    segment_table table;
    table_walk *walk;
} merge_input;

struct segment_merge {
    segment_place place;
    const catalog_segment *const *segments;
    size_t count;
    merge_space space;
    merge_input *inputs;
    heap_entry *heap; /* the smallest entry at 0 */
    size_t heap_size;
    bool is_given;    /* the first of the heap was given out */
    uint64_t entries; /* given out */
};

static int compare_keys(const table_entry *a, const table_entry *b)
{
    size_t both = a->key_bytes < b->key_bytes ? a->key_bytes : b->key_bytes;
    int order = both > 0 ? memcmp(a->key, b->key, both) : 0;
    if (order != 0)
        return order;
    return (a->key_bytes > b->key_bytes) - (a->key_bytes < b->key_bytes);
}

/* Without keys by hashes. */
static bool comes_before(const heap_entry *left, const heap_entry *right)
{
    const table_entry *a = &left->entry;
    const table_entry *b = &right->entry;
    if (a->key != NULL) {
        int order = compare_keys(a, b);
        if (order != 0)
            return order < 0;
    } else if (a->hash != b->hash) {
        return a->hash < b->hash;
    }
    return a->payload < b->payload;
}

static void sift_down(segment_merge *m, size_t at)
{
    heap_entry moving = m->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= m->heap_size)
            break;
        if (child + 1 < m->heap_size &&
            comes_before(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!comes_before(&m->heap[child], &moving))
            break;
        m->heap[at] = m->heap[child];
        at = child;
    }
    m->heap[at] = moving;
}

static ksv_status corrupt(segment_merge *m, size_t i, const char *text,
                          ksv_error *error)
{
    error_set(error, KSV_ERROR_CORRUPT, NULL, "index file is damaged: %s",
              text);
    segment_table_error(&m->place, m->segments[i]->id, error);
    return KSV_ERROR_CORRUPT;
}

/* Reads the next living entry of input `i` into `entry`. */
static ksv_status pull(segment_merge *m, size_t i, heap_entry *to, bool *end,
                       ksv_error *error)
{
    table_walk *walk = m->inputs[i].walk;
    table_entry *entry = &to->entry;
    uint64_t span = part_map_span(&m->space.inputs[i].map);
    to->input = i;
    for (;;) {
        ksv_status status = walk->next(walk, entry, end, error);
        if (status != KSV_OK)
            segment_table_error(&m->place, m->segments[i]->id, error);
        if (status != KSV_OK || *end)
            return status;
        if (entry->payload >= span)
            return corrupt(m, i, "an entry beyond the end of the data", error);
        if (merge_space_move(&m->space, i, &entry->payload))
            return KSV_OK;
    }
}

static ksv_status start(segment_merge *m, ksv_error *error)
{
    size_t pages = m->count > 0 ? MERGE_PAGES / m->count : 1;
    if (pages > INPUT_MOST_PAGES)
        pages = INPUT_MOST_PAGES;
    if (pages == 0)
        pages = 1;
    for (size_t i = 0; i < m->count; i++) {
        merge_input *input = &m->inputs[i];
        KSV_TRY(segment_open_table(&m->place, m->segments[i], &input->table,
                                   error));
        KSV_TRY(input->table.organisation->walk(&input->table, pages,
                                                &input->walk, error));
        if (input->walk->is_partial)
            return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                             "a merge needs the data of sparse tables");
        bool end;
        KSV_TRY(pull(m, i, &m->heap[m->heap_size], &end, error));
        m->heap_size += !end;
    }
    for (size_t i = m->heap_size / 2; i-- > 0;)
        sift_down(m, i);
    return KSV_OK;
}

ksv_status segment_merge_open(const segment_place *place,
                              const catalog_segment *const *segments,
                              size_t count, segment_merge **out,
                              ksv_error *error)
{
    *out = NULL;
    segment_merge *m = memory_zalloc(place->allocator, sizeof *m);
    if (m == NULL)
        return error_set_memory(error);
    m->place = *place;
    m->place.reopen_files = true;
    m->segments = segments;
    m->count = count;
    m->inputs = memory_zalloc_array(place->allocator, count, sizeof *m->inputs);
    m->heap = memory_zalloc_array(place->allocator, count, sizeof *m->heap);
    ksv_status status =
        merge_space_open(&m->space, segments, count, place->allocator, error);
    if (status == KSV_OK && (m->inputs == NULL || m->heap == NULL))
        status = error_set_memory(error);
    if (status == KSV_OK)
        status = start(m, error);
    if (status != KSV_OK) {
        segment_merge_close(m);
        return status;
    }
    *out = m;
    return KSV_OK;
}

const merge_space *segment_merge_space(const segment_merge *merge)
{
    return &merge->space;
}

/* What the catalog counts has to come out, so that nothing gets lost. */
static ksv_status finish(const segment_merge *merge, ksv_error *error)
{
    if (merge->entries == merge->space.entries)
        return KSV_OK;
    error_set(error, KSV_ERROR_CORRUPT, merge->place.directory,
              "index is damaged: its tables have %llu records, not %llu",
              (unsigned long long)merge->entries,
              (unsigned long long)merge->space.entries);
    error_add_remedy(error, KSV_REMEDY_BUILD);
    return KSV_ERROR_CORRUPT;
}

/* Moves on from the entry that was given out, whose key had to stay until now.
 */
static ksv_status advance(segment_merge *merge, ksv_error *error)
{
    heap_entry *first = &merge->heap[0];
    bool input_end;
    merge->is_given = false;
    KSV_TRY(pull(merge, first->input, first, &input_end, error));
    if (input_end)
        merge->heap[0] = merge->heap[--merge->heap_size];
    if (merge->heap_size > 0)
        sift_down(merge, 0);
    return KSV_OK;
}

ksv_status segment_merge_next(segment_merge *merge, table_entry *entry,
                              bool *end, ksv_error *error)
{
    if (merge->is_given)
        KSV_TRY(advance(merge, error));
    *end = merge->heap_size == 0;
    if (*end)
        return finish(merge, error);
    *entry = merge->heap[0].entry;
    merge->is_given = true;
    merge->entries++;
    return KSV_OK;
}

void segment_merge_close(segment_merge *merge)
{
    if (merge == NULL)
        return;
    const ksv_allocator *a = merge->place.allocator;
    for (size_t i = 0; merge->inputs != NULL && i < merge->count; i++) {
        if (merge->inputs[i].walk != NULL)
            merge->inputs[i].walk->close(merge->inputs[i].walk);
        segment_close_table(&merge->inputs[i].table);
    }
    memory_free(a, merge->inputs, merge->count * sizeof *merge->inputs);
    memory_free(a, merge->heap, merge->count * sizeof *merge->heap);
    merge_space_close(&merge->space);
    memory_free(a, merge, sizeof *merge);
}
