/* SPDX-License-Identifier: MIT */
/* Collects entries in order and packs as many as fit into each page. */
#ifndef KSV_TABLE_PAGE_BUILDER_H
#define KSV_TABLE_PAGE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "table/page.h"

typedef struct page_entry {
    uint64_t x;
    uint64_t payload;
} page_entry;

/* Entries of the page being filled. */
typedef struct page_builder {
    page_context context;
    page_entry *entries; /* owned */
    size_t capacity;
    size_t count;
    size_t group_start; /* where the group of the last entry begins here */
    size_t run_start;   /* where its run begins here */
    unsigned low_bits;  /* of the page, as far as is known */
    unsigned flags;     /* the BEFORE flags of the page */
} page_builder;

ksv_status page_builder_init(page_builder *builder, const page_context *context,
                             const ksv_allocator *allocator, ksv_error *error);
void page_builder_release(page_builder *builder,
                          const ksv_allocator *allocator);

/* Whether an entry of `x` fits into the page with what is in it; always when it
 * is empty. `x` is not below the last one. */
bool page_builder_fits(page_builder *builder, uint64_t x);
/* Adds an entry that fits. */
void page_builder_push(page_builder *builder, uint64_t x, uint64_t payload);

/* Writes page `number` into `page`: what has to stand before an entry of
 * `next_x` that did not fit. What belongs into one page with that entry stays
 * in the builder. */
void page_builder_cut(page_builder *builder, uint64_t next_x, uint32_t number,
                      uint8_t page[TABLE_PAGE_BYTES]);
/* Writes all that is left, at least one entry, as the last page. */
void page_builder_cut_last(page_builder *builder, uint32_t number,
                           uint8_t page[TABLE_PAGE_BYTES]);

#endif
