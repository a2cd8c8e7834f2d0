/* SPDX-License-Identifier: MIT */
/* The hashes of a table in order, without their payloads. */
#include "table/table_hashes.h"

#include "base/error.h"
#include "base/memory.h"
#include "io/file.h"
#include "table/table_reader.h"

#define CHUNK_PAGES 32
/* An entry takes one bit of the unary part and one of the payload. */
#define MOST_ENTRIES (TABLE_PAGE_BODY_BITS / 2)

struct table_hashes {
    ksv_table *table;
    uint64_t next_page;
    uint64_t chunk_first;
    uint64_t chunk_end;
    uint64_t last_x;
    uint64_t values[MOST_ENTRIES];
    uint8_t chunk[CHUNK_PAGES * TABLE_PAGE_BYTES + BITS_READ_PADDING_BYTES];
};

ksv_status table_hashes_open(ksv_table *table, table_hashes **out,
                             ksv_error *error)
{
    *out = memory_zalloc(&table->allocator, sizeof **out);
    if (*out == NULL)
        return error_set_memory(error);
    (*out)->table = table;
    return KSV_OK;
}

void table_hashes_close(table_hashes *hashes)
{
    if (hashes != NULL)
        memory_free(&hashes->table->allocator, hashes, sizeof *hashes);
}

static ksv_status fetch_page(table_hashes *h, uint64_t number,
                             const uint8_t **page, ksv_error *error)
{
    if (number >= h->chunk_end) {
        uint64_t left = h->table->meta.info.pages - number;
        uint64_t count = left < CHUNK_PAGES ? left : CHUNK_PAGES;
        KSV_TRY(file_read_exactly(h->table->file, table_page_offset(number),
                                  h->chunk, (size_t)count * TABLE_PAGE_BYTES,
                                  error));
        h->chunk_first = number;
        h->chunk_end = number + count;
    }
    *page = h->chunk + (number - h->chunk_first) * TABLE_PAGE_BYTES;
    return KSV_OK;
}

/* Decodes the x of all entries; false when the unary part has not a one for
 * each, or they are not in order. */
static bool decode(const page_view *view, uint64_t last_x, uint64_t *values)
{
    size_t i = 0;
    size_t low_position = view->low_start;
    bool ordered = true;
    for (size_t start = 0; start < view->unary_bits; start += 64) {
        uint64_t word = load_u64(view->body + start / 8);
        if (view->unary_bits - start < 64)
            word &= bits_mask((unsigned)(view->unary_bits - start));
        for (; word != 0; word &= word - 1) {
            if (i == view->entries)
                return false;
            uint64_t high = start + bits_lowest(word) - i;
            uint64_t low =
                bits_read_wide(view->body, low_position, view->low_bits);
            uint64_t x = view->base + ((high << view->low_bits) | low);
            ordered &= x >= last_x;
            last_x = x;
            values[i++] = x;
            low_position += view->low_bits;
        }
    }
    return ordered && i == view->entries;
}

ksv_status table_hashes_next(table_hashes *hashes, const uint64_t **values,
                             size_t *count, ksv_error *error)
{
    table_hashes *h = hashes;
    *count = 0;
    if (h->next_page == h->table->meta.info.pages)
        return KSV_OK;
    uint64_t number = h->next_page;
    const uint8_t *page;
    page_view view;
    KSV_TRY(fetch_page(h, number, &page, error));
    KSV_TRY(page_open(page, number, &h->table->context, &view, error));
    if (view.entries > MOST_ENTRIES || !decode(&view, h->last_x, h->values))
        return page_set_corrupt(error, number, "its entries are not in order");
    h->next_page++;
    h->last_x = h->values[view.entries - 1];
    unsigned shift = 64 - h->table->context.hash_bits;
    for (size_t i = 0; i < view.entries; i++)
        h->values[i] <<= shift;
    *values = h->values;
    *count = view.entries;
    return KSV_OK;
}
