/* SPDX-License-Identifier: MIT */
/* Opens a table and finds hashes in it. */
#include "table/table_reader.h"

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"

static ksv_status read_meta(ksv_file *file, table_meta *meta, ksv_error *error)
{
    uint8_t header[TABLE_HEADER_BYTES];
    uint8_t footer[TABLE_FOOTER_BYTES];
    ksv_file_info info;
    KSV_TRY(file->ops->info(file, &info, error));
    uint64_t size_bytes = info.size_bytes;
    size_t header_bytes =
        size_bytes < sizeof header ? (size_t)size_bytes : sizeof header;
    KSV_TRY(file_read_exactly(file, 0, header, header_bytes, error));
    KSV_TRY(
        table_decode_header(header, header_bytes, &meta->info.options, error));
    if (size_bytes < sizeof header + sizeof footer)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL, size_bytes,
                            "the table is cut short");
    KSV_TRY(file_read_exactly(file, size_bytes - sizeof footer, footer,
                              sizeof footer, error));
    return table_decode_footer(footer, size_bytes, meta, error);
}

ksv_status ksv_table_open(ksv_file *file, const ksv_allocator *allocator,
                          ksv_table **table, ksv_error *error)
{
    *table = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    ksv_table *t = memory_zalloc(&a, sizeof *t);
    if (t == NULL)
        return error_set_memory(error);
    t->allocator = a;
    t->file = file;
    ksv_status status = read_meta(file, &t->meta, error);
    if (status != KSV_OK)
        goto cleanup;
    t->context = (page_context){t->meta.info.options.hash_bits,
                                t->meta.info.options.payload_bits, t->meta.tag};
    status = fence_index_init(&t->fences, file, &t->meta, &t->allocator, error);
    if (status != KSV_OK)
        goto cleanup;
    *table = t;
    return KSV_OK;
cleanup:
    ksv_table_close(t);
    return status;
}

void ksv_table_close(ksv_table *table)
{
    if (table == NULL)
        return;
    ksv_allocator a = table->allocator;
    fence_index_release(&table->fences);
    memory_free(&a, (void *)table->checked,
                table->checked_words * sizeof *table->checked);
    memory_free(&a, table, sizeof *table);
}

void ksv_table_get_info(const ksv_table *table, ksv_table_info *info)
{
    *info = table->meta.info;
}

ksv_status table_map(ksv_table *table, ksv_error *error)
{
    const ksv_file_ops *ops = table->file->ops;
    uint64_t size_bytes;
    const void *data;
    if (ops->map == NULL)
        return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                         "this file system cannot map files");
    KSV_TRY(ops->map(table->file, &data, &size_bytes, error));
    if (size_bytes != table->meta.info.file_bytes)
        return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                         "changed while it was opened");
    size_t words = (size_t)(table->meta.info.pages / 64 + 1);
    table->checked =
        memory_zalloc_array(&table->allocator, words, sizeof *table->checked);
    if (table->checked == NULL)
        return error_set_memory(error);
    table->checked_words = words;
    table->mapped = data;
    return KSV_OK;
}

static bool was_checked(const ksv_table *t, uint64_t number)
{
    uint64_t word =
        atomic_load_explicit(&t->checked[number / 64], memory_order_relaxed);
    return (word >> (number % 64) & 1) != 0;
}

/* The page is sound, and its first hash that of its fence. */
static ksv_status check_page(ksv_table *t, const uint8_t *page, uint64_t number,
                             uint32_t fence, page_view *view, ksv_error *error)
{
    KSV_TRY(page_open(page, number, &t->context, view, error));
    if (table_fence_of_x(view->base, t->context.hash_bits) != fence)
        return page_set_corrupt(error, number,
                                "its first hash is not that of its fence");
    if (t->mapped != NULL)
        atomic_fetch_or_explicit(&t->checked[number / 64],
                                 UINT64_C(1) << (number % 64),
                                 memory_order_relaxed);
    return KSV_OK;
}

static ksv_status open_page(ksv_table *t, const uint8_t *page, uint64_t number,
                            uint32_t fence, page_view *view, ksv_error *error)
{
    return t->mapped != NULL && was_checked(t, number)
               ? page_open_again(page, number, &t->context, view, error)
               : check_page(t, page, number, fence, view, error);
}

/* One lookup: the page that was read last and what it is looked into for. */
typedef struct table_search {
    ksv_table *table;
    uint64_t x;
    uint64_t pages_read;
    page_view view;
    uint8_t page[PAGE_BUFFER_BYTES];
} table_search;

/* Reads the page into the search, and compares it with its fence. */
static ksv_status read_page(table_search *s, uint64_t number, uint32_t fence,
                            ksv_error *error)
{
    ksv_table *t = s->table;
    const uint8_t *page = s->page;
    s->pages_read++;
    if (t->mapped != NULL)
        page = table_mapped_page(t, number);
    else
        KSV_TRY(file_read_exactly(t->file, table_page_offset(number), s->page,
                                  TABLE_PAGE_BYTES, error));
    return open_page(t, page, number, fence, &s->view, error);
}

static void visit_run(const page_view *view, const table_run *run,
                      ksv_payload_fn visit, void *ctx, bool *more)
{
    for (size_t i = 0; i < run->count && *more; i++)
        *more = visit(ctx, page_payload(view, run->first + i));
}

void table_visit_run(const page_view *view, const table_run *run,
                     ksv_payload_fn visit, void *ctx)
{
    bool more = true;
    visit_run(view, run, visit, ctx, &more);
}

/* Visits what the page has of the hash; `*more` is false after a visit that
 * said so. */
static ksv_status visit_page(const page_view *view, uint64_t x,
                             ksv_payload_fn visit, void *ctx, bool *more,
                             ksv_error *error)
{
    table_run run;
    KSV_TRY(page_find(view, x, &run.first, &run.count, error));
    visit_run(view, &run, visit, ctx, more);
    return KSV_OK;
}

/* The pages of one group, all of which have the same fence. */
typedef struct page_group {
    uint64_t begin;
    uint64_t end;
    uint32_t fence;
} page_group;

static ksv_status read_group_page(table_search *s, const page_group *group,
                                  uint64_t number, ksv_error *error)
{
    KSV_TRY(read_page(s, number, group->fence, error));
    bool before = (s->view.flags & TABLE_FLAG_GROUP_BEFORE) != 0;
    bool after = (s->view.flags & TABLE_FLAG_GROUP_AFTER) != 0;
    if (before != (number > group->begin) || after != (number + 1 < group->end))
        return page_set_corrupt(error, number, "its flags are wrong");
    return KSV_OK;
}

/* Where a hash stands, seen from a page that was read. */
typedef enum search_place {
    PLACE_BEFORE, /* in a page before, if at all */
    PLACE_HERE,   /* here, if at all, from its first entry on */
    PLACE_AFTER
} search_place;

static search_place place_of(const table_search *s)
{
    const page_view *view = &s->view;
    if (s->x > page_last(view))
        return PLACE_AFTER;
    if (s->x < view->base ||
        (s->x == view->base && (view->flags & TABLE_FLAG_RUN_BEFORE) != 0))
        return PLACE_BEFORE;
    return PLACE_HERE;
}

/* Reads the page of the group in which the hash begins, if it is there at all:
 * the first, which most often is the one, or one found by halving the rest. */
static ksv_status find_in_group(table_search *s, const page_group *group,
                                bool *found, ksv_error *error)
{
    uint64_t low = group->begin;
    uint64_t high = group->end;
    uint64_t probe = low;
    *found = false;
    while (low < high) {
        KSV_TRY(read_group_page(s, group, probe, error));
        search_place place = place_of(s);
        if (place == PLACE_HERE) {
            *found = true;
            return KSV_OK;
        }
        if (place == PLACE_AFTER)
            low = probe + 1;
        else
            high = probe;
        probe = low + (high - low) / 2;
    }
    return KSV_OK;
}

/* A run that fills its page goes on in the next one. */
static ksv_status visit_group(table_search *s, const page_group *group,
                              ksv_payload_fn visit, void *ctx, ksv_error *error)
{
    bool more;
    KSV_TRY(find_in_group(s, group, &more, error));
    while (more) {
        KSV_TRY(visit_page(&s->view, s->x, visit, ctx, &more, error));
        if (page_last(&s->view) != s->x ||
            (s->view.flags & TABLE_FLAG_RUN_AFTER) == 0 || !more)
            return KSV_OK;
        uint64_t next = s->view.number + 1;
        if (next == group->end)
            return page_set_corrupt(error, s->view.number,
                                    "its flags are wrong");
        KSV_TRY(read_group_page(s, group, next, error));
        if (s->view.base != s->x ||
            (s->view.flags & TABLE_FLAG_RUN_BEFORE) == 0)
            return page_set_corrupt(error, next,
                                    "it does not go on where the page before "
                                    "it ends");
    }
    return KSV_OK;
}

/* The page holds all of the hash that there is, whatever else it holds. */
static ksv_status visit_single(table_search *s, uint64_t number,
                               ksv_payload_fn visit, void *ctx,
                               ksv_error *error)
{
    uint32_t fence;
    bool more = true;
    KSV_TRY(fence_index_get(&s->table->fences, number, &fence, error));
    KSV_TRY(read_page(s, number, fence, error));
    if ((s->view.flags & TABLE_FLAG_GROUP_AFTER) != 0)
        return page_set_corrupt(error, number, "its flags are wrong");
    return visit_page(&s->view, s->x, visit, ctx, &more, error);
}

static ksv_status no_fence_before(const ksv_table *t, ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                        table_page_offset(t->fences.pages),
                        "the first fence lies behind the first hash");
}

static ksv_status search_table(table_search *s, ksv_payload_fn visit, void *ctx,
                               ksv_error *error)
{
    page_group group = {
        .fence = table_fence_of_x(s->x, s->table->context.hash_bits)};
    KSV_TRY(fence_index_find(&s->table->fences, group.fence, &group.begin,
                             &group.end, error));
    if (group.begin < group.end)
        return visit_group(s, &group, visit, ctx, error);
    if (group.begin == 0)
        return no_fence_before(s->table, error);
    return visit_single(s, group.begin - 1, visit, ctx, error);
}

/* Whether a truncated hash lies between the first and the last one. */
static bool is_in_range(const table_meta *meta, uint64_t hash)
{
    return meta->info.entries > 0 && hash >= meta->first_hash &&
           hash <= meta->last_hash;
}

ksv_status table_locate(ksv_table *table, uint64_t hash, table_place *place,
                        uint64_t *page, ksv_error *error)
{
    unsigned hash_bits = table->context.hash_bits;
    *place = TABLE_NOWHERE;
    *page = 0;
    hash = ksv_hash_truncate(hash, hash_bits);
    if (!is_in_range(&table->meta, hash))
        return KSV_OK;
    uint64_t begin, end;
    uint32_t fence =
        table_fence_of_x(table_x_of_hash(hash, hash_bits), hash_bits);
    KSV_TRY(fence_index_find(&table->fences, fence, &begin, &end, error));
    if (begin == end && begin == 0)
        return no_fence_before(table, error);
    *place = end - begin > 1 ? TABLE_IN_GROUP : TABLE_IN_PAGE;
    *page = begin == end ? begin - 1 : begin;
    return KSV_OK;
}

ksv_status table_open_page(ksv_table *table, const uint8_t *page,
                           uint64_t number, page_view *view, ksv_error *error)
{
    uint32_t fence;
    if (table->mapped != NULL && was_checked(table, number))
        return page_open_again(page, number, &table->context, view, error);
    KSV_TRY(fence_index_get(&table->fences, number, &fence, error));
    return check_page(table, page, number, fence, view, error);
}

ksv_status table_find_run(const ksv_table *table, const page_view *view,
                          uint64_t hash, table_run *run, ksv_error *error)
{
    unsigned hash_bits = table->context.hash_bits;
    hash = ksv_hash_truncate(hash, hash_bits);
    uint64_t x = table_x_of_hash(hash, hash_bits);
    /* A page of its own fence's group alone continues none and is not
     * continued; one that the fence before names may end a group. */
    bool is_of_group = table_fence_of_x(x, hash_bits) ==
                       table_fence_of_x(view->base, hash_bits);
    if ((view->flags & TABLE_FLAG_GROUP_AFTER) != 0 ||
        (is_of_group && (view->flags & TABLE_FLAG_GROUP_BEFORE) != 0))
        return page_set_corrupt(error, view->number, "its flags are wrong");
    KSV_TRY(page_find(view, x, &run->first, &run->count, error));
    page_prefetch_payload(view, run->first);
    return KSV_OK;
}

ksv_status table_search_page(const ksv_table *table, const page_view *view,
                             uint64_t hash, ksv_payload_fn visit, void *ctx,
                             ksv_error *error)
{
    table_run run;
    KSV_TRY(table_find_run(table, view, hash, &run, error));
    table_visit_run(view, &run, visit, ctx);
    return KSV_OK;
}

ksv_status ksv_table_find(ksv_table *table, uint64_t hash, ksv_payload_fn visit,
                          void *ctx, uint64_t *pages_read, ksv_error *error)
{
    hash = ksv_hash_truncate(hash, table->context.hash_bits);
    ksv_status status = KSV_OK;
    uint64_t read = 0;
    if (is_in_range(&table->meta, hash)) {
        table_search s;
        s.table = table;
        s.x = table_x_of_hash(hash, table->context.hash_bits);
        s.pages_read = 0;
        status = search_table(&s, visit, ctx, error);
        read = s.pages_read;
    }
    if (pages_read != NULL)
        *pages_read = read;
    return status;
}
