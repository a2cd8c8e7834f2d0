/* SPDX-License-Identifier: MIT */
/* An open table, as finding and iterating see it. */
#ifndef KSV_TABLE_TABLE_READER_H
#define KSV_TABLE_TABLE_READER_H

#include "table/fence_index.h"
#include "table/page.h"

/* Constant after ksv_table_open() and table_map(), but for what `fences` loads
 * and the bits of `checked`. */
struct ksv_table {
    ksv_allocator allocator;
    ksv_file *file;
    table_meta meta;
    page_context context;
    fence_index fences;
    const uint8_t *mapped;     /* the whole file, or NULL: pages are read */
    _Atomic uint64_t *checked; /* of a mapped table: a bit a page */
    size_t checked_words;
};

/* Uses the file in the address space from now on: pages are not read, and
 * summed up only once. To be called before any other thread knows the table.
 * KSV_ERROR_UNSUPPORTED when it cannot be mapped; the table stays as it was. */
ksv_status table_map(ksv_table *table, ksv_error *error);

/* Page `number` of a mapped table with its BITS_READ_PADDING_BYTES. */
static inline const uint8_t *table_mapped_page(const ksv_table *table,
                                               uint64_t number)
{
    return table->mapped + table_page_offset(number);
}

/* Where a hash stands, if it is there at all. */
typedef enum table_place {
    TABLE_NOWHERE, /* outside of all that the table has */
    TABLE_IN_PAGE, /* in one page */
    TABLE_IN_GROUP /* in one of several: only ksv_table_find() can tell */
} table_place;

/* `*page` is the page, or the first one of the group. `hash` need not be
 * truncated. Reads no more than pages of fences. */
ksv_status table_locate(ksv_table *table, uint64_t hash, table_place *place,
                        uint64_t *page, ksv_error *error);

/* Asks the memory for the header of a mapped page. */
static inline void table_prefetch_head(const ksv_table *table, uint64_t number)
{
    page_prefetch_head(table_mapped_page(table, number));
}

/* Asks the memory for what finding `hash` will look at in a page that was
 * opened. */
static inline void table_prefetch(const ksv_table *table, const page_view *view,
                                  uint64_t hash)
{
    page_prefetch(view, table_x_of_hash(hash, table->context.hash_bits));
}

/* Checks the bytes of page `number`, which table_locate() has named, against
 * everything but the hashes asked for. `page` is mapped or has
 * BITS_READ_PADDING_BYTES behind it. */
ksv_status table_open_page(ksv_table *table, const uint8_t *page,
                           uint64_t number, page_view *view, ksv_error *error);

/* The entries `first`..`first` + `count` - 1 of a page. */
typedef struct table_run {
    size_t first;
    size_t count;
} table_run;

/* Finds the entries of `hash`, of which table_locate() has said that they would
 * all be in this page, and asks the memory for their payloads. */
ksv_status table_find_run(const ksv_table *table, const page_view *view,
                          uint64_t hash, table_run *run, ksv_error *error);

void table_visit_run(const page_view *view, const table_run *run,
                     ksv_payload_fn visit, void *ctx);

/* Visits the payloads of `hash`, as table_find_run() finds them. */
ksv_status table_search_page(const ksv_table *table, const page_view *view,
                             uint64_t hash, ksv_payload_fn visit, void *ctx,
                             ksv_error *error);

#endif
