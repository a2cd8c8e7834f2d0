/* SPDX-License-Identifier: MIT */
/* Pages of tables in the address space, looked into for groups of keys: what a
 * step looks at is asked for while the steps before it are at other keys. */
#include "base/error.h"
#include "lookup/batch_run.h"

/* One key and its page. */
typedef struct page_probe {
    page_view view;
    table_run run;
} page_probe;

typedef struct mapped_search {
    batch_run *run;
    ksv_table *table;
    size_t segment;
    size_t end; /* of the items */
    /* Of the group that is being searched, and of the next one. */
    page_probe probes[2][BATCH_GROUP];
} mapped_search;

static size_t group_end(const mapped_search *s, size_t first)
{
    if (first >= s->end)
        return first;
    return s->end - first < BATCH_GROUP ? s->end : first + BATCH_GROUP;
}

static bool is_in_group(const batch_item *item)
{
    return (item->owner & BATCH_NEEDS_SEARCH) != 0;
}

static void ask_for_heads(const mapped_search *s, size_t first)
{
    for (size_t i = first, end = group_end(s, first); i < end; i++)
        table_prefetch_head(s->table, s->run->items[i].place);
}

/* Opens the pages, whose heads were asked for. */
static ksv_status open_pages(mapped_search *s, size_t first, page_probe *probe,
                             ksv_error *error)
{
    for (size_t i = first, end = group_end(s, first); i < end; i++, probe++) {
        const batch_item *item = &s->run->items[i];
        if (is_in_group(item))
            continue;
        ksv_receipt *receipt = batch_receipt(s->run, item->owner);
        receipt->table_pages_read++;
        receipt->bytes_read += TABLE_PAGE_BYTES;
        KSV_TRY(table_open_page(s->table,
                                table_mapped_page(s->table, item->place),
                                item->place, &probe->view, error));
        table_prefetch(s->table, &probe->view, s->run->hashes[item->owner]);
    }
    return KSV_OK;
}

static ksv_status find_entries(const mapped_search *s, size_t first,
                               page_probe *probe, ksv_error *error)
{
    for (size_t i = first, end = group_end(s, first); i < end; i++, probe++) {
        const batch_item *item = &s->run->items[i];
        if (!is_in_group(item))
            KSV_TRY(table_find_run(s->table, &probe->view,
                                   s->run->hashes[item->owner], &probe->run,
                                   error));
    }
    return KSV_OK;
}

static ksv_status take_payloads(const mapped_search *s, const batch_item *item,
                                const page_probe *probe, ksv_error *error)
{
    batch_run *run = s->run;
    lookup_session *session = run->session;
    uint32_t key = item->owner & ~BATCH_NEEDS_SEARCH;
    size_t before = session->candidate_count;
    if (is_in_group(item)) {
        KSV_TRY(batch_ask_table(run, s->segment, key, error));
    } else {
        candidate_sink sink = {session, s->segment, key, KSV_OK, error};
        table_visit_run(&probe->view, &probe->run, lookup_take_candidate,
                        &sink);
        KSV_TRY(sink.status);
    }
    batch_receipt(run, key)->false_positives +=
        session->candidate_count == before;
    return KSV_OK;
}

static ksv_status take_group(const mapped_search *s, size_t first,
                             page_probe *probe, ksv_error *error)
{
    KSV_TRY(find_entries(s, first, probe, error));
    for (size_t i = first, end = group_end(s, first);
         i < end && !batch_is_too_big(s->run); i++, probe++)
        KSV_TRY(take_payloads(s, &s->run->items[i], probe, error));
    return KSV_OK;
}

ksv_status batch_search_mapped(batch_run *run, ksv_table *table, size_t segment,
                               size_t first, ksv_error *error)
{
    mapped_search s;
    s.run = run;
    s.table = table;
    s.segment = segment;
    s.end = run->item_count;
    ask_for_heads(&s, first);
    KSV_TRY(open_pages(&s, first, s.probes[0], error));
    for (size_t i = first, group = 0; i < s.end; i += BATCH_GROUP, group++) {
        ask_for_heads(&s, i + BATCH_GROUP);
        KSV_TRY(take_group(&s, i, s.probes[group % 2], error));
        KSV_TRY(
            open_pages(&s, i + BATCH_GROUP, s.probes[(group + 1) % 2], error));
    }
    return KSV_OK;
}
