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
    memory_free(&a, table, sizeof *table);
}

void ksv_table_get_info(const ksv_table *table, ksv_table_info *info)
{
    *info = table->meta.info;
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
    s->pages_read++;
    KSV_TRY(file_read_exactly(t->file, table_page_offset(number), s->page,
                              TABLE_PAGE_BYTES, error));
    KSV_TRY(page_open(s->page, number, &t->context, &s->view, error));
    if (table_fence_of_x(s->view.base, t->context.hash_bits) != fence)
        return page_set_corrupt(error, number,
                                "its first hash is not that of its fence");
    return KSV_OK;
}

/* Visits what the page has of the hash; `*more` is false after a visit that
 * said so. */
static ksv_status visit_page(table_search *s, ksv_payload_fn visit, void *ctx,
                             bool *more, ksv_error *error)
{
    size_t first, count;
    KSV_TRY(page_find(&s->view, s->x, &first, &count, error));
    for (size_t i = first; i < first + count && *more; i++)
        *more = visit(ctx, page_payload(&s->view, i));
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
    if (s->x > view->last)
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
        KSV_TRY(visit_page(s, visit, ctx, &more, error));
        if (s->view.last != s->x ||
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
    return visit_page(s, visit, ctx, &more, error);
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
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                            table_page_offset(s->table->fences.pages),
                            "the first fence lies behind the first hash");
    return visit_single(s, group.begin - 1, visit, ctx, error);
}

ksv_status ksv_table_find(ksv_table *table, uint64_t hash, ksv_payload_fn visit,
                          void *ctx, uint64_t *pages_read, ksv_error *error)
{
    const table_meta *meta = &table->meta;
    hash = ksv_hash_truncate(hash, table->context.hash_bits);
    ksv_status status = KSV_OK;
    uint64_t read = 0;
    if (meta->info.entries > 0 && hash >= meta->first_hash &&
        hash <= meta->last_hash) {
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
