/* SPDX-License-Identifier: MIT */
/* The first step of a batch: filters, then the pages of tables in waves. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lookup/batch_run.h"

/* In the owner of an item: its table has to be asked for the one key. */
#define NEEDS_SEARCH (UINT32_C(1) << 31)

/* Pages between two that are wanted are read with them up to this many bytes.
 */
#define PAGE_GAP_BYTES TABLE_PAGE_BYTES

#define PREFETCH_HEADS 16
#define PREFETCH_PLACES 8

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
                              owner | NEEDS_SEARCH, (uint32_t)segment, error);
    table_place place;
    uint64_t page;
    KSV_TRY(table_locate(table->pages, run->hashes[i], &place, &page, error));
    if (place == TABLE_NOWHERE) {
        batch_receipt(run, i)->false_positives++;
        return KSV_OK;
    }
    return batch_add_item(run, page,
                          place == TABLE_IN_PAGE ? owner : owner | NEEDS_SEARCH,
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

static const ksv_table *mapped_of(const batch_run *run, const batch_item *item)
{
    const ksv_table *table = table_of(run, item);
    return table != NULL && table->mapped != NULL ? table : NULL;
}

static bool is_read(const batch_run *run, const batch_item *item)
{
    return (item->owner & NEEDS_SEARCH) == 0 &&
           table_of(run, item)->mapped == NULL;
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
        if (!is_read(run, item))
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
    ksv_table *table = table_of(run, item);
    ksv_receipt *receipt = batch_receipt(run, item->owner);
    const uint8_t *page;
    receipt->table_pages_read++;
    if (table->mapped != NULL) {
        page = table_mapped_page(table, item->place);
        receipt->bytes_read += TABLE_PAGE_BYTES;
    } else {
        const wave_part *part = &run->parts[i];
        page = run->wave.buffer + part->position;
        if (read_wave_got(&run->wave, part, TABLE_PAGE_BYTES) <
            TABLE_PAGE_BYTES)
            return page_set_corrupt(error, item->place, "it ends too early");
    }
    search->last = NULL;
    KSV_TRY(table_open_page(table, page, item->place, &search->view, error));
    search->last = item;
    return KSV_OK;
}

static ksv_status search_item(page_search *search, size_t i, ksv_error *error)
{
    batch_run *run = search->run;
    const batch_item *item = &run->items[i];
    lookup_session *session = run->session;
    uint32_t key = item->owner & ~NEEDS_SEARCH;
    size_t before = session->candidate_count;
    if ((item->owner & NEEDS_SEARCH) != 0) {
        const ksv_key *asked = &run->batch->keys[key];
        table_key wanted = {asked->data, asked->bytes, run->hashes[key]};
        KSV_TRY(lookup_ask_table(session, item->source, &wanted, key,
                                 batch_receipt(run, key), error));
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

/* Pages in the address space are asked for some items ahead: the head, which
 * says where the rest is, before the rest. */
static void prefetch_pages(const batch_run *run, size_t i)
{
    if (i + PREFETCH_HEADS >= run->item_count)
        return;
    const batch_item *far = &run->items[i + PREFETCH_HEADS];
    const batch_item *near = &run->items[i + PREFETCH_PLACES];
    if (mapped_of(run, far) != NULL)
        table_prefetch_head(mapped_of(run, far), far->place);
    if (mapped_of(run, near) != NULL)
        table_prefetch(mapped_of(run, near), near->place,
                       run->hashes[near->owner & ~NEEDS_SEARCH]);
}

static bool is_too_big(const batch_run *run)
{
    return run->session->candidate_count > BATCH_CANDIDATES_MOST;
}

static ksv_status search_items(batch_run *run, size_t first, size_t end,
                               ksv_error *error)
{
    page_search search = {.run = run};
    for (size_t i = first; i < end && !is_too_big(run); i++) {
        prefetch_pages(run, i);
        KSV_TRY(search_item(&search, i, error));
    }
    return KSV_OK;
}

static ksv_status search_pages(batch_run *run, ksv_error *error)
{
    KSV_TRY(batch_make_parts(run, error));
    size_t end;
    for (size_t first = 0; first < run->item_count && !is_too_big(run);
         first = end) {
        KSV_TRY(plan_wave(run, first, &end, error));
        KSV_TRY(read_wave_run(&run->wave, error));
        if (run->shares)
            run->batch->sum->bytes_read += read_wave_bytes(&run->wave);
        else
            for (size_t i = first; i < end; i++)
                if (is_read(run, &run->items[i]))
                    batch_receipt(run, run->items[i].owner)->bytes_read +=
                        TABLE_PAGE_BYTES;
        KSV_TRY(search_items(run, first, end, error));
    }
    return KSV_OK;
}

/* They were found in the order of segments and pages. */
static ksv_status order_candidates(batch_run *run, ksv_error *error)
{
    const lookup_session *session = run->session;
    uint32_t *starts = run->starts;
    size_t keys = run->batch->count;
    void *items = run->ordered;
    ksv_status status =
        memory_grow(run->allocator, &items, &run->ordered_capacity,
                    session->candidate_count, sizeof *run->ordered, error);
    run->ordered = items;
    KSV_TRY(status);
    memset(starts, 0, (keys + 1) * sizeof *starts);
    for (size_t i = 0; i < session->candidate_count; i++)
        starts[session->candidates[i].key + 1]++;
    for (size_t i = 0; i < keys; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < session->candidate_count; i++)
        run->ordered[starts[session->candidates[i].key]++] =
            session->candidates[i];
    /* Each start has moved to its end, where the next one was. */
    for (size_t i = keys; i > 0; i--)
        starts[i] = starts[i - 1];
    starts[0] = 0;
    for (size_t i = 0; i < keys; i++)
        lookup_sort_candidates(run->ordered + starts[i],
                               starts[i + 1] - starts[i]);
    return KSV_OK;
}

ksv_status batch_find_candidates(batch_run *run, bool *too_big,
                                 ksv_error *error)
{
    run->item_count = 0;
    run->session->candidate_count = 0;
    for (size_t i = 0; i < run->session->snapshot->segment_count; i++) {
        size_t before = run->item_count;
        KSV_TRY(ask_filter(run, i, error));
        KSV_TRY(locate_pages(run, i, error));
        KSV_TRY(batch_sort_items(run, before, error));
    }
    KSV_TRY(search_pages(run, error));
    *too_big = is_too_big(run);
    return *too_big ? KSV_OK : order_candidates(run, error);
}
