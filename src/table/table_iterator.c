/* SPDX-License-Identifier: MIT */
/* Reads a table from end to end and compares all its parts with each other. */
#include "table/table_iterator.h"

#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"
#include "table/table_reader.h"

#define USUAL_CHUNK_PAGES 32

struct ksv_table_iterator {
    ksv_table *table;     /* borrowed */
    uint64_t next_page;   /* number of the page after the one being decoded */
    uint64_t chunk_first; /* number of the first page in `chunk` */
    uint64_t chunk_end;
    bool damaged; /* what comes now would mean nothing */
    bool in_page; /* `view` and `cursor` are those of page `next_page` - 1 */
    page_view view;
    uint64_t page_last_x; /* of the page of `view` */
    page_cursor cursor;
    uint64_t entries; /* given out so far */
    uint64_t distinct_hashes;
    uint64_t run_entries;
    uint64_t longest_run;
    uint64_t last_x; /* of the entry given out last, if there is one */
    uint64_t last_payload;
    size_t chunk_pages; /* that `chunk` holds */
    uint8_t chunk[];    /* and BITS_READ_PADDING_BYTES behind them */
};

static size_t iterator_bytes(size_t chunk_pages)
{
    return offsetof(ksv_table_iterator, chunk) +
           chunk_pages * TABLE_PAGE_BYTES + BITS_READ_PADDING_BYTES;
}

ksv_status table_iterator_open(ksv_table *table, size_t most_pages,
                               ksv_table_iterator **iterator, ksv_error *error)
{
    uint64_t pages = table->meta.info.pages;
    size_t chunk_pages = pages < most_pages ? (size_t)pages : most_pages;
    *iterator = memory_zalloc(&table->allocator, iterator_bytes(chunk_pages));
    if (*iterator == NULL)
        return error_set_memory(error);
    (*iterator)->table = table;
    (*iterator)->chunk_pages = chunk_pages;
    return KSV_OK;
}

ksv_status ksv_table_iterator_open(ksv_table *table,
                                   ksv_table_iterator **iterator,
                                   ksv_error *error)
{
    return table_iterator_open(table, USUAL_CHUNK_PAGES, iterator, error);
}

void ksv_table_iterator_close(ksv_table_iterator *iterator)
{
    if (iterator != NULL)
        memory_free(&iterator->table->allocator, iterator,
                    iterator_bytes(iterator->chunk_pages));
}

/* The bytes of a page, read with those that follow it. */
static ksv_status fetch_page(ksv_table_iterator *it, uint64_t number,
                             const uint8_t **page, ksv_error *error)
{
    if (number >= it->chunk_end) {
        uint64_t left = it->table->meta.info.pages - number;
        uint64_t count = left < it->chunk_pages ? left : it->chunk_pages;
        KSV_TRY(file_read_exactly(it->table->file, table_page_offset(number),
                                  it->chunk, (size_t)count * TABLE_PAGE_BYTES,
                                  error));
        it->chunk_first = number;
        it->chunk_end = number + count;
    }
    *page = it->chunk + (number - it->chunk_first) * TABLE_PAGE_BYTES;
    return KSV_OK;
}

/* What finding relies on between the page that was read last, which is all zero
 * before the first one, and the one after it, which is that behind the last. */
static const char *check_border(const ksv_table_iterator *it,
                                const page_view *after)
{
    unsigned hash_bits = it->table->context.hash_bits;
    const page_view *before = &it->view;
    uint64_t last_x = it->page_last_x;
    bool there = before->entries > 0 && after->entries > 0;
    uint32_t fence = table_fence_of_x(last_x, hash_bits);
    bool group = there && fence == table_fence_of_x(after->base, hash_bits);
    bool run = there && last_x == after->base;
    if (group != ((before->flags & TABLE_FLAG_GROUP_AFTER) != 0) ||
        group != ((after->flags & TABLE_FLAG_GROUP_BEFORE) != 0) ||
        run != ((before->flags & TABLE_FLAG_RUN_AFTER) != 0) ||
        run != ((after->flags & TABLE_FLAG_RUN_BEFORE) != 0))
        return "its flags do not fit the page before";
    if ((group && table_fence_of_x(before->base, hash_bits) != fence) ||
        (run && before->base != last_x))
        return "the page before was not to be divided from it";
    return NULL;
}

/* Goes to the next page, which there is. */
static ksv_status enter_page(ksv_table_iterator *it, ksv_error *error)
{
    ksv_table *t = it->table;
    uint64_t number = it->next_page;
    page_view view;
    const uint8_t *page;
    uint32_t fence;
    KSV_TRY(fetch_page(it, number, &page, error));
    KSV_TRY(page_open(page, number, &t->context, &view, error));
    KSV_TRY(fence_index_get(&t->fences, number, &fence, error));
    if (fence != table_fence_of_x(view.base, t->context.hash_bits))
        return page_set_corrupt(error, number,
                                "its first hash is not that of its fence");
    const char *wrong = check_border(it, &view);
    if (wrong != NULL)
        return page_set_corrupt(error, number, wrong);
    it->view = view;
    it->page_last_x = page_last(&view);
    page_cursor_open(&it->cursor, &it->view);
    it->next_page++;
    it->in_page = true;
    return KSV_OK;
}

/* Takes an entry into the counts, after comparing it with the one before. */
static ksv_status take_entry(ksv_table_iterator *it, uint64_t x,
                             uint64_t payload, ksv_error *error)
{
    bool first = it->entries == 0;
    bool repeated = !first && x == it->last_x;
    if ((!first && x < it->last_x) || (repeated && payload < it->last_payload))
        return page_set_corrupt(error, it->view.number,
                                "its entries are not in order");
    if (first && table_hash_of_x(x, it->table->context.hash_bits) !=
                     it->table->meta.first_hash)
        return page_set_corrupt(error, it->view.number,
                                "its first entry is not that of the footer");
    if (x > it->page_last_x)
        return page_set_corrupt(error, it->view.number,
                                "its last entry is not its highest");
    if (!repeated) {
        it->distinct_hashes++;
        it->run_entries = 0;
    }
    it->entries++;
    it->run_entries++;
    if (it->run_entries > it->longest_run)
        it->longest_run = it->run_entries;
    it->last_x = x;
    it->last_payload = payload;
    return KSV_OK;
}

/* Compares what was read with what the footer says. */
static ksv_status check_totals(const ksv_table_iterator *it, ksv_error *error)
{
    static const page_view none;
    const ksv_table *t = it->table;
    const ksv_table_info *info = &t->meta.info;
    const char *wrong = check_border(it, &none);
    if (wrong == NULL && (it->entries != info->entries ||
                          it->distinct_hashes != info->distinct_hashes ||
                          it->longest_run != info->longest_run))
        wrong = "the pages do not hold what the table's footer counts";
    if (wrong == NULL && it->entries > 0 &&
        table_hash_of_x(it->last_x, t->context.hash_bits) != t->meta.last_hash)
        wrong = "the last entry is not that of the table's footer";
    if (wrong != NULL)
        return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                            info->file_bytes - TABLE_FOOTER_BYTES, "%s", wrong);
    return KSV_OK;
}

static ksv_status next_entry(ksv_table_iterator *it, uint64_t *x,
                             uint64_t *payload, bool *end, ksv_error *error)
{
    *end = true;
    do {
        if (!it->in_page && it->next_page == it->table->meta.info.pages)
            return check_totals(it, error);
        if (!it->in_page)
            KSV_TRY(enter_page(it, error));
        KSV_TRY(page_cursor_next(&it->cursor, x, payload, end, error));
        it->in_page = !*end;
    } while (*end);
    return take_entry(it, *x, *payload, error);
}

ksv_status ksv_table_iterator_next(ksv_table_iterator *iterator, uint64_t *hash,
                                   uint64_t *payload, bool *end,
                                   ksv_error *error)
{
    uint64_t x = 0;
    if (iterator->damaged)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "the table is damaged, as was said before");
    ksv_status status = next_entry(iterator, &x, payload, end, error);
    iterator->damaged = status == KSV_ERROR_CORRUPT;
    if (status == KSV_OK && !*end)
        *hash = table_hash_of_x(x, iterator->table->context.hash_bits);
    return status;
}
