/* SPDX-License-Identifier: MIT */
/* The entries of several segments as one ascending stream: a binary heap over
 * one iterator a table. */
#include "segment/segment_merge.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/table_iterator.h"

/* Pages of 4 KiB that are in memory of all tables together, unless there are
 * more tables than that, and of one. */
#define MERGE_PAGES 4096
#define INPUT_MOST_PAGES 32

typedef struct merge_input {
    segment_table table;
    ksv_table_iterator *iterator;
} merge_input;

struct segment_merge {
    segment_place place;
    const catalog_segment *const *segments;
    size_t count;
    merge_input *inputs;
    merge_entry *heap; /* the smallest entry at 0 */
    size_t heap_size;
};

static bool comes_before(const merge_entry *a, const merge_entry *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash;
    return a->segment < b->segment;
}

static void sift_down(segment_merge *m, size_t at)
{
    merge_entry moving = m->heap[at];
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

/* Reads the next entry of input `i` into `entry`. */
static ksv_status pull(segment_merge *m, size_t i, merge_entry *entry,
                       bool *end, ksv_error *error)
{
    entry->segment = i;
    ksv_status status = ksv_table_iterator_next(
        m->inputs[i].iterator, &entry->hash, &entry->payload, end, error);
    if (status != KSV_OK)
        segment_error(&m->place, m->segments[i], CATALOG_TABLE_ENDING, error);
    return status;
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
    ksv_status status = m->inputs == NULL || m->heap == NULL
                            ? error_set_memory(error)
                            : start(m, error);
    if (status != KSV_OK) {
        segment_merge_close(m);
        return status;
    }
    *out = m;
    return KSV_OK;
}

ksv_status segment_merge_next(segment_merge *merge, merge_entry *entry,
                              bool *end, ksv_error *error)
{
    *end = merge->heap_size == 0;
    if (*end)
        return KSV_OK;
    *entry = merge->heap[0];
    bool input_end;
    KSV_TRY(pull(merge, entry->segment, &merge->heap[0], &input_end, error));
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
    memory_free(a, merge, sizeof *merge);
}

static ksv_status count_hashes(segment_merge *merge, uint64_t *distinct,
                               ksv_error *error)
{
    uint64_t last_hash = 0;
    for (;;) {
        merge_entry entry;
        bool end;
        KSV_TRY(segment_merge_next(merge, &entry, &end, error));
        if (end)
            return KSV_OK;
        *distinct += *distinct == 0 || entry.hash != last_hash;
        last_hash = entry.hash;
    }
}

ksv_status segment_count_distinct(const segment_place *place,
                                  const catalog_segment *const *segments,
                                  size_t count, uint64_t *distinct,
                                  ksv_error *error)
{
    uint64_t keys = 0, hashes = 0, hashes_together = 0;
    *distinct = 0;
    for (size_t i = 0; i < count; i++) {
        keys += segments[i]->distinct_keys;
        hashes += segments[i]->filter_keys;
    }
    if (count > 1) {
        segment_merge *merge;
        KSV_TRY(segment_merge_open(place, segments, count, &merge, error));
        ksv_status status = count_hashes(merge, &hashes_together, error);
        segment_merge_close(merge);
        KSV_TRY(status);
        /* What several segments have in common was counted in each. */
        keys -= hashes - hashes_together;
    }
    *distinct = keys;
    return KSV_OK;
}
