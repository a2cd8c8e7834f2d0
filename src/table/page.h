/* SPDX-License-Identifier: MIT */
/* One page of entries: check it, find a hash in it, decode it in order. */
#ifndef KSV_TABLE_PAGE_H
#define KSV_TABLE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/status.h>

#include "base/prefetch.h"
#include "table/bit_packing.h"
#include "table/table_format.h"

/* Offsets in the header of a page. The body follows as one string of bits: the
 * unary part, the low bits of all entries, their payloads. */
enum {
    PAGE_CHECKSUM = 0,
    PAGE_NUMBER = 4,
    PAGE_BASE = 8,
    PAGE_ENTRIES = 16,
    PAGE_LOW_BITS = 18,
    PAGE_FLAGS = 19,
    PAGE_UNARY_BITS = 20,
    PAGE_RESERVED = 22,
    PAGE_TAG = 24
};

/* Memory that a page is read into. */
#define PAGE_BUFFER_BYTES (TABLE_PAGE_BYTES + BITS_READ_PADDING_BYTES)

/* What a page has to agree with. */
typedef struct page_context {
    unsigned hash_bits;
    unsigned payload_bits;
    uint64_t tag;
} page_context;

/* A checked page. Points into the page, which has BITS_READ_PADDING_BYTES of
 * readable memory (of any content) behind it. */
typedef struct page_view {
    const uint8_t *body;
    uint64_t number;
    uint64_t base; /* x of the first entry */
    unsigned flags;
    unsigned entries; /* at least 1 */
    unsigned low_bits;
    unsigned payload_bits;
    size_t unary_bits;
    size_t low_start;     /* in bits of the body */
    size_t payload_start; /* likewise */
} page_view;

/* Checks checksum, place, owner and all lengths of `page`, which was read as
 * page `number`. KSV_ERROR_CORRUPT with the byte offset in the table. */
ksv_status page_open(const uint8_t *page, uint64_t number,
                     const page_context *context, page_view *view,
                     ksv_error *error);

/* As page_open() for a page that it has accepted before: what the checksum
 * covers is not summed up again, and nothing but the header is looked at. */
ksv_status page_open_again(const uint8_t *page, uint64_t number,
                           const page_context *context, page_view *view,
                           ksv_error *error);

/* x of the last entry. */
uint64_t page_last(const page_view *view);

/* Asks the memory for the header of a page. */
static inline void page_prefetch_head(const uint8_t *page)
{
    MEMORY_PREFETCH(page);
}

/* Asks the memory for what page_find() will look at, if hashes are spread
 * evenly. */
void page_prefetch(const page_view *view, uint64_t x);

/* KSV_ERROR_CORRUPT about that page. */
ksv_status page_set_corrupt(ksv_error *error, uint64_t number,
                            const char *what);

/* The entries `*first`..`*first` + `*count` - 1 are those of `x`; `*count` may
 * be 0. */
ksv_status page_find(const page_view *view, uint64_t x, size_t *first,
                     size_t *count, ksv_error *error);

static inline uint64_t page_payload(const page_view *view, size_t i)
{
    return bits_read(view->body,
                     view->payload_start + i * (size_t)view->payload_bits,
                     view->payload_bits);
}

/* Asks the memory for the payload of an entry, which need not be there. */
static inline void page_prefetch_payload(const page_view *view, size_t i)
{
    MEMORY_PREFETCH(view->body +
                    (view->payload_start + i * view->payload_bits) / 8);
}

/* Decodes a page from its first entry to its last. */
typedef struct page_cursor {
    const page_view *view; /* borrowed */
    size_t index;          /* of the next entry */
    size_t word_start;     /* the bit of the body that `word` begins at */
    uint64_t word;         /* ones of the unary part that were not used yet */
} page_cursor;

void page_cursor_open(page_cursor *cursor, const page_view *view);
/* `*end`: there is no further entry. KSV_ERROR_CORRUPT when the unary part does
 * not have a one for each entry. The order of entries is for the caller to
 * check. */
ksv_status page_cursor_next(page_cursor *cursor, uint64_t *x, uint64_t *payload,
                            bool *end, ksv_error *error);

#endif
