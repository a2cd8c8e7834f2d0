/* SPDX-License-Identifier: MIT */
/* Many sorted entries for a table, of which another thread makes the pages.
 *
 * Where a page ends depends on all pages before, but takes little of the time
 * to find out: only the entries that might be the last are looked at. */
#include "table/table_batch.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/table_writer_private.h"

void table_batch_init(table_batch *batch, const ksv_allocator *allocator)
{
    *batch = (table_batch){.allocator = allocator_or_default(allocator)};
}

void table_batch_release(table_batch *batch)
{
    const ksv_allocator *a = &batch->allocator;
    memory_free(a, batch->cuts, batch->cut_capacity * sizeof *batch->cuts);
    memory_free(a, batch->joint, batch->joint_capacity * sizeof *batch->joint);
    memory_free(a, batch->pages, batch->page_capacity * TABLE_PAGE_BYTES);
    *batch = (table_batch){.allocator = *a};
}

static ksv_status add_cut(table_batch *batch, ksv_table_writer *w,
                          const hash_entry *entries, size_t count,
                          ksv_error *error)
{
    void *cuts = batch->cuts;
    ksv_status status =
        memory_grow(&batch->allocator, &cuts, &batch->cut_capacity,
                    batch->cut_count + 1, sizeof *batch->cuts, error);
    batch->cuts = cuts;
    KSV_TRY(status);
    KSV_TRY(table_writer_room_for_page(w, error));
    uint32_t number = table_writer_number_page(w, entries);
    batch->cuts[batch->cut_count++] =
        page_builder_plan(&w->builder, entries, count, number);
    return KSV_OK;
}

/* Cuts pages as long as more entries are there than one can have, and one
 * begins below `most_start`; returns where the next one begins. */
static ksv_status cut_pages(table_batch *batch, ksv_table_writer *w,
                            const hash_entry *entries, size_t count,
                            size_t most_start, size_t *start, ksv_error *error)
{
    while (*start < most_start && count - *start > w->builder.most) {
        KSV_TRY(add_cut(batch, w, entries + *start, count - *start, error));
        *start += batch->cuts[batch->cut_count - 1].count;
    }
    return KSV_OK;
}

static void keep_waiting(ksv_table_writer *w, const hash_entry *entries,
                         size_t count)
{
    page_builder *b = &w->builder;
    if (count > 0)
        memmove(b->memory, entries, count * sizeof *entries);
    b->start = 0;
    b->count = count;
}

/* Cuts the pages that begin in what waits; `*start` is where among the new
 * entries the next page begins, or their end when all wait with the others. */
static ksv_status cut_joint(table_batch *batch, ksv_table_writer *w,
                            size_t *start, ksv_error *error)
{
    size_t waiting = w->builder.count;
    size_t most = w->builder.most + 1;
    size_t more = batch->count < most ? batch->count : most;
    void *joint = batch->joint;
    ksv_status status =
        memory_grow(&batch->allocator, &joint, &batch->joint_capacity,
                    waiting + more, sizeof *batch->joint, error);
    batch->joint = joint;
    KSV_TRY(status);
    memcpy(batch->joint, page_builder_entries(&w->builder),
           waiting * sizeof *batch->joint);
    memcpy(batch->joint + waiting, batch->entries, more * sizeof *batch->joint);
    size_t at = 0;
    KSV_TRY(
        cut_pages(batch, w, batch->joint, waiting + more, waiting, &at, error));
    if (at >= waiting) {
        *start = at - waiting;
        return KSV_OK;
    }
    keep_waiting(w, batch->joint + at, waiting + more - at);
    *start = batch->count;
    return KSV_OK;
}

ksv_status table_batch_plan(table_batch *batch, ksv_table_writer *writer,
                            const hash_entry *entries, size_t count,
                            ksv_error *error)
{
    ksv_table_writer *w = writer;
    KSV_TRY(table_writer_check_open(w, error));
    batch->context = w->builder.context;
    batch->entries = entries;
    batch->count = count;
    batch->first = entries[0];
    batch->last = entries[count - 1];
    batch->cut_count = 0;
    size_t start = 0;
    if (w->builder.count > 0)
        KSV_TRY(cut_joint(batch, w, &start, error));
    if (start < count) {
        KSV_TRY(cut_pages(batch, w, entries, count, count, &start, error));
        keep_waiting(w, entries + start, count - start);
    }
    void *pages = batch->pages;
    ksv_status status =
        memory_grow(&batch->allocator, &pages, &batch->page_capacity,
                    batch->cut_count, TABLE_PAGE_BYTES, error);
    batch->pages = pages;
    return status;
}

static uint64_t count_distinct(const hash_entry *entries, size_t count,
                               unsigned shift)
{
    uint64_t distinct = 1;
    for (size_t i = 1; i < count; i++)
        distinct += entries[i].hash >> shift != entries[i - 1].hash >> shift;
    return distinct;
}

static batch_runs find_runs(const hash_entry *entries, size_t count,
                            unsigned hash_bits)
{
    unsigned shift = 64 - hash_bits;
    batch_runs runs = {count_distinct(entries, count, shift), 1, 1, 1};
    if (runs.distinct == count)
        return runs;
    size_t start = 0;
    for (size_t i = 1; i <= count; i++) {
        if (i < count &&
            entries[i].hash >> shift == entries[start].hash >> shift)
            continue;
        runs.last_run = i - start;
        if (start == 0)
            runs.first_run = runs.last_run;
        if (runs.last_run > runs.longest_run)
            runs.longest_run = runs.last_run;
        start = i;
    }
    return runs;
}

void table_batch_make_pages(table_batch *batch)
{
    for (size_t i = 0; i < batch->cut_count; i++)
        page_encode(&batch->context, &batch->cuts[i],
                    batch->pages + i * TABLE_PAGE_BYTES);
    batch->runs =
        find_runs(batch->entries, batch->count, batch->context.hash_bits);
}

/* The first run may go on where the last one of the batch before ended. */
static void join_runs(ksv_table_writer *w, const batch_runs *runs, bool goes_on)
{
    ksv_table_info *info = &w->meta.info;
    uint64_t joined = runs->first_run + (goes_on ? w->run_entries : 0);
    if (joined > info->longest_run)
        info->longest_run = joined;
    if (runs->longest_run > info->longest_run)
        info->longest_run = runs->longest_run;
    info->distinct_hashes += runs->distinct - (goes_on ? 1 : 0);
    w->run_entries = runs->distinct == 1 ? joined : runs->last_run;
}

static void count_entries(ksv_table_writer *w, const table_batch *batch)
{
    ksv_table_info *info = &w->meta.info;
    unsigned hash_bits = info->options.hash_bits;
    uint64_t first = ksv_hash_truncate(batch->first.hash, hash_bits);
    if (info->entries == 0)
        w->meta.first_hash = first;
    join_runs(w, &batch->runs, info->entries > 0 && first == w->meta.last_hash);
    info->entries += batch->count;
    w->meta.last_hash = ksv_hash_truncate(batch->last.hash, hash_bits);
    w->last_payload = batch->last.payload;
}

ksv_status table_batch_append(const table_batch *batch,
                              ksv_table_writer *writer, ksv_error *error)
{
    ksv_table_writer *w = writer;
    KSV_TRY(table_writer_check_open(w, error));
    count_entries(w, batch);
    if (batch->cut_count == 0)
        return KSV_OK;
    if (w->buffered_bytes > 0)
        KSV_TRY(table_writer_flush(w, error));
    w->failed = w->file->ops->append(
        w->file, batch->pages, batch->cut_count * TABLE_PAGE_BYTES, error);
    return w->failed;
}
