/* SPDX-License-Identifier: MIT */
/* Collects entries in order and packs as many as fit into each page. */
#ifndef KSV_TABLE_PAGE_BUILDER_H
#define KSV_TABLE_PAGE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "hash/hash_entry.h"
#include "table/page.h"

/* Entries that become a page. Only the bits of a hash that the table keeps
 * count. */
typedef struct page_cut {
    const hash_entry *entries;
    size_t count; /* at least 1 */
    uint32_t number;
    unsigned flags;
} page_cut;

/* Entries that wait for their pages: more than one page's. */
typedef struct page_builder {
    page_context context;
    hash_entry *memory; /* owned */
    size_t capacity;
    size_t start; /* of the entries in `memory` */
    size_t count;
    size_t most;    /* entries that a page can have at most */
    unsigned flags; /* the BEFORE flags of the next page */
} page_builder;

ksv_status page_builder_init(page_builder *builder, const page_context *context,
                             const ksv_allocator *allocator, ksv_error *error);
void page_builder_release(page_builder *builder,
                          const ksv_allocator *allocator);

/* The entries that wait; the first begins the next page. */
static inline const hash_entry *
page_builder_entries(const page_builder *builder)
{
    return builder->memory + builder->start;
}

/* Whether the next page can be cut, whatever comes. Then it has to be. */
static inline bool page_builder_is_full(const page_builder *builder)
{
    return builder->count > builder->most;
}

/* Room for at least one more entry unless it is full, behind those that wait:
 * `*room` is for how many. The caller writes them and adds their number to
 * `count`; each hash is not below the one before. */
hash_entry *page_builder_room(page_builder *builder, size_t *room);

/* Writes page `number` into `page`: as many as fit of the entries that wait, of
 * which there is at least one, or all. What belongs into one page with an entry
 * that does not fit goes on waiting. */
void page_builder_cut(page_builder *builder, uint32_t number,
                      uint8_t page[TABLE_PAGE_BYTES]);

/* The two halves of it, for `count` entries that lie anywhere: the first says
 * which of them page `number` gets, the second writes it, in any thread. */
page_cut page_builder_plan(page_builder *builder, const hash_entry *entries,
                           size_t count, uint32_t number);
void page_encode(const page_context *context, const page_cut *cut,
                 uint8_t page[TABLE_PAGE_BYTES]);

#endif
