/* SPDX-License-Identifier: MIT */
/* The first step of a batch: filters, then the pages of tables in waves. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lookup/batch_run.h"

/* Pages between two that are wanted are read with them up to this many bytes.
 */
#define PAGE_GAP_BYTES TABLE_PAGE_BYTES

static ksv_status ask_filter(batch_run *run, size_t segment, ksv_error *error)
{
    const lookup_batch *batch = run->batch;
    bool has_answered;
    KSV_TRY(batch_ask_filter(run, segment, batch->count, &has_answered,
                             batch_receipt(run, 0), error));
    for (size_t i = 0; i < batch->count && has_answered; i++) {
        if (batch->keys[i].bytes == 0)
            continue;
        ksv_receipt *receipt = batch_receipt(run, i);
        receipt->filter_probes++;
        receipt->filter_positives += run->maybe[i];
    }
    return KSV_OK;
}

/* Keys near to one another are asked for one after the other. */
static uint64_t first_bytes(const ksv_key *key)
{
    uint8_t bytes[8] = {0};
    memcpy(bytes, key->data, key->bytes < 8 ? key->bytes : 8);
    uint64_t value = 0;
    for (size_t i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* Adds an item for a key that the table may have. */
static ksv_status locate_key(batch_run *run, const segment_table *table,
                             size_t segment, size_t i, ksv_error *error)
{
    uint32_t owner = (uint32_t)i;
    if (table->pages == NULL)
        return batch_add_item(run, first_bytes(&run->batch->keys[i]),
                              owner | BATCH_NEEDS_SEARCH, (uint32_t)segment,
                              error);
    table_place place;
    uint64_t page;
    KSV_TRY(table_locate(table->pages, run->hashes[i], &place, &page, error));
    if (place == TABLE_NOWHERE) {
        batch_receipt(run, i)->false_positives++;
        return KSV_OK;
    }
    return batch_add_item(
        run, page, place == TABLE_IN_PAGE ? owner : owner | BATCH_NEEDS_SEARCH,
        (uint32_t)segment, error);
}

/* Adds an item for each key that the table may have. */
static ksv_status locate_pages(batch_run *run, size_t segment, ksv_error *error)
{
    const segment_table *table = NULL;
    const lookup_batch *batch = run->batch;
    KSV_TRY(batch_expect_items(run, error));
    for (size_t i = 0; i < batch->count; i++) {
        if (!run->maybe[i] || batch->keys[i].bytes == 0)
            continue;
        if (table == NULL)
            KSV_TRY(snapshot_table(run->session->snapshot, segment, &table,
                                   batch_receipt(run, i), error));
        KSV_TRY(locate_key(run, table, segment, i, error));
    }
    return KSV_OK;
}

static ksv_table *table_of(const batch_run *run, const batch_item *item)
{
    return run->session->snapshot->segments[item->source].table.pages;
}

static bool is_read(const batch_item *item)
{
    return (item->owner & BATCH_NEEDS_SEARCH) == 0;
}

static bool same_page(const batch_item *a, const batch_item *b)
{
    return a->place == b->place && a->source == b->source;
}

/* Fills a wave with the pages of the items from `first` on; `*end` is behind
 * the last item that it serves. */
static ksv_status plan_wave(batch_run *run, size_t first, size_t *end,
                            ksv_error *error)
{
    read_wave_clear(&run->wave);
    size_t gap_bytes = run->shares ? PAGE_GAP_BYTES : READ_WAVE_APART;
    size_t i = first;
    for (; i < run->item_count; i++) {
        const batch_item *item = &run->items[i];
        if (!is_read(item))
            continue;
        bool added;
        KSV_TRY(read_wave_add(
            &run->wave,
            run->session->snapshot->segments[item->source].table.file,
            table_page_offset(item->place), TABLE_PAGE_BYTES, gap_bytes,
            &run->parts[i], &added, error));
        if (!added)
            break;
    }
    *end = i;
    return KSV_OK;
}

/* The page that was looked into last, for items that share it. */
typedef struct page_search {
    batch_run *run;
    const batch_item *last; /* NULL: none */
    page_view view;
} page_search;

static ksv_status open_page(page_search *search, size_t i, ksv_error *error)
{
    batch_run *run = search->run;
    const batch_item *item = &run->items[i];
    const wave_part *part = &run->parts[i];
    batch_receipt(run, item->owner)->table_pages_read++;
    search->last = NULL;
    if (read_wave_got(&run->wave, part, TABLE_PAGE_BYTES) < TABLE_PAGE_BYTES)
        return page_set_corrupt(error, item->place, "it ends too early");
    KSV_TRY(table_open_page(table_of(run, item),
                            run->wave.buffer + part->position, item->place,
                            &search->view, error));
    search->last = item;
    return KSV_OK;
}

ksv_status batch_ask_table(batch_run *run, size_t segment, uint32_t key,
                           ksv_error *error)
{
    const ksv_key *asked = &run->batch->keys[key];
    table_key wanted = {asked->data, asked->bytes, run->hashes[key],
                        run->shares};
    return lookup_ask_table(run->session, segment, &wanted, key,
                            batch_receipt(run, key), error);
}

static ksv_status search_item(page_search *search, size_t i, ksv_error *error)
{
    batch_run *run = search->run;
    const batch_item *item = &run->items[i];
    lookup_session *session = run->session;
    uint32_t key = item->owner & ~BATCH_NEEDS_SEARCH;
    size_t before = session->candidate_count;
    if ((item->owner & BATCH_NEEDS_SEARCH) != 0) {
        KSV_TRY(batch_ask_table(run, item->source, key, error));
    } else {
        bool is_open = run->shares && search->last != NULL &&
                       same_page(search->last, item);
        if (!is_open)
            KSV_TRY(open_page(search, i, error));
        candidate_sink sink = {session, item->source, key, KSV_OK, error};
        KSV_TRY(table_search_page(table_of(run, item), &search->view,
                                  run->hashes[key], lookup_take_candidate,
                                  &sink, error));
        KSV_TRY(sink.status);
    }
    batch_receipt(run, key)->false_positives +=
        session->candidate_count == before;
    return KSV_OK;
}

static ksv_status search_items(batch_run *run, size_t first, size_t end,
                               ksv_error *error)
{
    page_search search = {.run = run};
    for (size_t i = first; i < end && !batch_is_too_big(run); i++)
        KSV_TRY(search_item(&search, i, error));
    return KSV_OK;
}

static ksv_status search_pages(batch_run *run, ksv_error *error)
{
    if (run->item_count == 0)
        return KSV_OK;
    KSV_TRY(batch_make_parts(run, error));
    size_t end;
    for (size_t first = 0; first < run->item_count && !batch_is_too_big(run);
         first = end) {
        KSV_TRY(plan_wave(run, first, &end, error));
        KSV_TRY(read_wave_run(&run->wave, error));
        if (run->shares)
            run->batch->sum->bytes_read += read_wave_bytes(&run->wave);
        else
            for (size_t i = first; i < end; i++)
                if (is_read(&run->items[i]))
                    batch_receipt(run, run->items[i].owner)->bytes_read +=
                        TABLE_PAGE_BYTES;
        KSV_TRY(search_items(run, first, end, error));
    }
    return KSV_OK;
}

/* Whether the candidates came in the order of the keys. */
static bool is_in_order(const lookup_session *session)
{
    for (size_t i = 1; i < session->candidate_count; i++)
        if (session->candidates[i].key < session->candidates[i - 1].key)
            return false;
    return true;
}

/* Copies the candidates to where those of each key begin; each start moves to
 * its end, where the next one was. */
static ksv_status copy_in_order(batch_run *run, ksv_error *error)
{
    const lookup_session *session = run->session;
    void *items = run->copies;
    ksv_status status =
        memory_grow(run->allocator, &items, &run->copy_capacity,
                    session->candidate_count, sizeof *run->copies, error);
    run->copies = items;
    KSV_TRY(status);
    for (size_t i = 0; i < session->candidate_count; i++)
        run->copies[run->starts[session->candidates[i].key]++] =
            session->candidates[i];
    for (size_t i = run->batch->count; i > 0; i--)
        run->starts[i] = run->starts[i - 1];
    run->starts[0] = 0;
    run->ordered = run->copies;
    return KSV_OK;
}

/* They were found in the order of segments and of pages or keys. */
static ksv_status order_candidates(batch_run *run, ksv_error *error)
{
    lookup_session *session = run->session;
    uint32_t *starts = run->starts;
    size_t keys = run->batch->count;
    memset(starts, 0, (keys + 1) * sizeof *starts);
    for (size_t i = 0; i < session->candidate_count; i++)
        starts[session->candidates[i].key + 1]++;
    for (size_t i = 0; i < keys; i++)
        starts[i + 1] += starts[i];
    run->ordered = session->candidates;
    if (!is_in_order(session))
        KSV_TRY(copy_in_order(run, error));
    for (size_t i = 0; i < keys; i++)
        lookup_sort_candidates(run->ordered + starts[i],
                               starts[i + 1] - starts[i]);
    return KSV_OK;
}

/* Asks the filter and the table of a segment. What has to be read of the table
 * becomes items for later. */
static ksv_status ask_segment(batch_run *run, size_t segment, ksv_error *error)
{
    size_t before = run->item_count;
    KSV_TRY(ask_filter(run, segment, error));
    KSV_TRY(locate_pages(run, segment, error));
    /* Without an item another thread may be opening the table just now. */
    if (run->item_count == before)
        return KSV_OK;
    ksv_table *table = run->session->snapshot->segments[segment].table.pages;
    if (table == NULL || table->mapped == NULL)
        return batch_sort_items(run, before, error);
    KSV_TRY(batch_search_mapped(run, table, segment, before, error));
    run->item_count = before;
    return KSV_OK;
}

ksv_status batch_find_candidates(batch_run *run, bool *too_big,
                                 ksv_error *error)
{
    run->item_count = 0;
    run->session->candidate_count = 0;
    for (size_t i = 0;
         i < run->session->snapshot->segment_count && !batch_is_too_big(run);
         i++)
        KSV_TRY(ask_segment(run, i, error));
    KSV_TRY(search_pages(run, error));
    *too_big = batch_is_too_big(run);
    return *too_big ? KSV_OK : order_candidates(run, error);
}
