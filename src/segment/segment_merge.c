/* SPDX-License-Identifier: MIT */
/* The living entries of several segments as one ascending stream: a binary heap
 * over one iterator a table. */
#include "segment/segment_merge.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/table_iterator.h"

/* Pages of 4 KiB that are in memory of all tables together, unless there are
 * more tables than that, and of one. */
#define MERGE_PAGES 4096
#define INPUT_MOST_PAGES 32

/* An entry of an input; those with equal hashes are in order of their payload
 * in the space of all. */
typedef struct heap_entry {
    uint64_t hash;
    uint64_t payload;
    size_t input;
} heap_entry;

typedef struct merge_input {
    segment_table table;
    ksv_table_iterator *iterator;
} merge_input;

struct segment_merge {
    segment_place place;
    const catalog_segment *const *segments;
    size_t count;
    merge_space space;
    merge_input *inputs;
    heap_entry *heap; /* the smallest entry at 0 */
    size_t heap_size;
    uint64_t entries; /* given out */
};

static bool comes_before(const heap_entry *a, const heap_entry *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash;
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
    segment_error(&m->place, m->segments[i]->id, CATALOG_TABLE_ENDING, error);
    return KSV_ERROR_CORRUPT;
}

/* Reads the next living entry of input `i` into `entry`. */
static ksv_status pull(segment_merge *m, size_t i, heap_entry *entry, bool *end,
                       ksv_error *error)
{
    uint64_t span = part_map_span(&m->space.inputs[i].map);
    entry->input = i;
    for (;;) {
        ksv_status status = ksv_table_iterator_next(
            m->inputs[i].iterator, &entry->hash, &entry->payload, end, error);
        if (status != KSV_OK)
            segment_error(&m->place, m->segments[i]->id, CATALOG_TABLE_ENDING,
                          error);
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
        KSV_TRY(table_iterator_open(input->table.table, pages, &input->iterator,
                                    error));
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

ksv_status segment_merge_next(segment_merge *merge, merge_entry *entry,
                              bool *end, ksv_error *error)
{
    *end = merge->heap_size == 0;
    if (*end)
        return finish(merge, error);
    heap_entry *first = &merge->heap[0];
    *entry = (merge_entry){first->hash, first->payload};
    merge->entries++;
    bool input_end;
    KSV_TRY(pull(merge, first->input, first, &input_end, error));
    if (input_end)
        merge->heap[0] = merge->heap[--merge->heap_size];
    if (merge->heap_size > 0)
        sift_down(merge, 0);
    return KSV_OK;
}

void segment_merge_close(segment_merge *merge)
{
    if (merge == NULL)
        return;
    const ksv_allocator *a = merge->place.allocator;
    for (size_t i = 0; merge->inputs != NULL && i < merge->count; i++) {
        ksv_table_iterator_close(merge->inputs[i].iterator);
        segment_close_table(&merge->inputs[i].table);
    }
    memory_free(a, merge->inputs, merge->count * sizeof *merge->inputs);
    memory_free(a, merge->heap, merge->count * sizeof *merge->heap);
    merge_space_close(&merge->space);
    memory_free(a, merge, sizeof *merge);
}
