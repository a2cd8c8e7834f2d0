/* SPDX-License-Identifier: MIT */
/* Reading pages of entries, Elias-Fano coded. */
#include "table/page.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/prefetch.h"
#include "hash/hash.h"
#include "table/unary_select.h"

ksv_status page_set_corrupt(ksv_error *error, uint64_t number, const char *what)
{
    return error_set_at(error, KSV_ERROR_CORRUPT, NULL,
                        table_page_offset(number), "page %" PRIu64 ": %s",
                        number, what);
}

static uint64_t unary_word(const page_view *view, size_t word_start)
{
    uint64_t word = load_u64(view->body + word_start / 8);
    size_t left = view->unary_bits - word_start;
    return left < 64 ? word & bits_mask((unsigned)left) : word;
}

static uint64_t low_part(const page_view *view, size_t i)
{
    return bits_read_wide(view->body,
                          view->low_start + i * (size_t)view->low_bits,
                          view->low_bits);
}

/* The page is the one that was meant. */
static const char *check_identity(const uint8_t *page, uint64_t number,
                                  const page_context *context)
{
    if (load_u64(page + PAGE_TAG) != context->tag)
        return "it belongs to another table";
    if (load_u32(page + PAGE_NUMBER) != number)
        return "another page stands in its place";
    return NULL;
}

/* Nothing that its header says leads out of the page or beyond 64 bits. */
static const char *check_lengths(const page_view *view, unsigned reserved,
                                 const page_context *context)
{
    uint64_t highest = UINT64_MAX >> (64 - context->hash_bits);
    if (view->entries == 0 || view->low_bits > 63 ||
        view->unary_bits < view->entries || reserved != 0)
        return "its lengths are impossible";
    if (view->payload_start + (size_t)view->entries * view->payload_bits >
        TABLE_PAGE_BODY_BITS)
        return "its entries do not fit into it";
    if (view->base > highest || view->unary_bits - view->entries >
                                    (highest - view->base) >> view->low_bits)
        return "its hashes are too big";
    return NULL;
}

static const char *check_flags(const page_view *view)
{
    unsigned f = view->flags;
    if ((f & ~TABLE_FLAGS) != 0 ||
        ((f & TABLE_FLAG_RUN_BEFORE) != 0 &&
         (f & TABLE_FLAG_GROUP_BEFORE) == 0) ||
        ((f & TABLE_FLAG_RUN_AFTER) != 0 && (f & TABLE_FLAG_GROUP_AFTER) == 0))
        return "its flags are impossible";
    return NULL;
}

ksv_status page_open(const uint8_t *page, uint64_t number,
                     const page_context *context, page_view *view,
                     ksv_error *error)
{
    if (load_u32(page + PAGE_CHECKSUM) !=
        hash_checksum32(page + 4, TABLE_PAGE_BYTES - 4))
        return page_set_corrupt(error, number, "its checksum is wrong");
    KSV_TRY(page_open_again(page, number, context, view, error));
    /* The last entry ends the unary part. */
    if (bits_read(view->body, view->unary_bits - 1, 1) == 0)
        return page_set_corrupt(error, number, "its unary part has no end");
    return KSV_OK;
}

ksv_status page_open_again(const uint8_t *page, uint64_t number,
                           const page_context *context, page_view *view,
                           ksv_error *error)
{
    const char *wrong = check_identity(page, number, context);
    if (wrong != NULL)
        return page_set_corrupt(error, number, wrong);
    view->body = page + TABLE_PAGE_HEADER_BYTES;
    view->number = number;
    view->base = load_u64(page + PAGE_BASE);
    view->entries = load_u16(page + PAGE_ENTRIES);
    view->low_bits = page[PAGE_LOW_BITS];
    view->flags = page[PAGE_FLAGS];
    view->unary_bits = load_u16(page + PAGE_UNARY_BITS);
    view->payload_bits = context->payload_bits;
    view->low_start = view->unary_bits;
    view->payload_start =
        view->low_start + (size_t)view->entries * view->low_bits;
    wrong = check_lengths(view, load_u16(page + PAGE_RESERVED), context);
    if (wrong == NULL)
        wrong = check_flags(view);
    if (wrong != NULL)
        return page_set_corrupt(error, number, wrong);
    return KSV_OK;
}

uint64_t page_last(const page_view *view)
{
    uint64_t high = view->unary_bits - view->entries;
    return view->base +
           ((high << view->low_bits) | low_part(view, view->entries - 1u));
}

/* The lines that hold some bytes of a page, all of which lie in it. */
static void prefetch_bytes(const uint8_t *page, size_t from, size_t to)
{
    if (to >= TABLE_PAGE_BYTES)
        to = TABLE_PAGE_BYTES - 1;
    for (size_t byte = from & ~(size_t)63; byte <= to; byte += 64)
        MEMORY_PREFETCH(page + byte);
}

/* How far beside its guessed place, in bytes, an entry is asked for. */
#define GUESS_BYTES 28

static void prefetch_bit(const uint8_t *page, size_t bit)
{
    size_t byte = TABLE_PAGE_HEADER_BYTES + bit / 8;
    prefetch_bytes(page, byte - GUESS_BYTES, byte + GUESS_BYTES);
}

void page_prefetch(const page_view *view, uint64_t x)
{
    const uint8_t *page = view->body - TABLE_PAGE_HEADER_BYTES;
    uint64_t bucket = (x - view->base) >> view->low_bits;
    size_t buckets = view->unary_bits - view->entries;
    if (x < view->base || bucket > buckets)
        return;
    size_t before = buckets > 0 ? (size_t)bucket * view->entries / buckets : 0;
    /* The unary part up to the bucket, then the low bits of its entries. */
    prefetch_bytes(page, 64,
                   TABLE_PAGE_HEADER_BYTES + (before + (size_t)bucket) / 8 +
                       GUESS_BYTES);
    prefetch_bit(page, view->low_start + before * view->low_bits);
}

/* The first bit from `start` on that is no one of the unary part. */
static size_t bucket_end(const page_view *view, size_t start)
{
    unsigned shift = start % 64;
    size_t word_start = start - shift;
    uint64_t ones = ~UINT64_C(0) << shift;
    for (; word_start < view->unary_bits; word_start += 64) {
        uint64_t zeros = ~unary_word(view, word_start) & ones;
        if (zeros != 0)
            return word_start + bits_lowest(zeros);
        ones = ~UINT64_C(0);
    }
    return view->unary_bits;
}

/* The first entry of `from`..`to` - 1 whose low part is not below `low`. */
static size_t first_not_below(const page_view *view, size_t from, size_t to,
                              uint64_t low)
{
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (low_part(view, middle) < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

ksv_status page_find(const page_view *view, uint64_t x, size_t *first,
                     size_t *count, ksv_error *error)
{
    *first = *count = 0;
    if (x < view->base)
        return KSV_OK;
    uint64_t y = x - view->base;
    uint64_t bucket = y >> view->low_bits;
    if (bucket > view->unary_bits - view->entries)
        return KSV_OK;
    /* Where the bucket begins: behind as many zeros. */
    size_t start =
        unary_select_zero(view->body, view->unary_bits, (size_t)bucket);
    size_t end = bucket_end(view, start);
    /* Ones before a bit are the bits before it less the zeros. */
    size_t from = start - (size_t)bucket;
    size_t to = end - (size_t)bucket;
    if (start < bucket || start > end || end > view->unary_bits ||
        to > view->entries)
        return page_set_corrupt(error, view->number,
                                "its unary part does not fit its entries");
    uint64_t low = y & bits_mask(view->low_bits);
    *first = first_not_below(view, from, to, low);
    size_t i = *first;
    while (i < to && low_part(view, i) == low)
        i++;
    *count = i - *first;
    return KSV_OK;
}

void page_cursor_open(page_cursor *cursor, const page_view *view)
{
    cursor->view = view;
    cursor->index = 0;
    cursor->word_start = 0;
    cursor->word = unary_word(view, 0);
}

/* Makes `word` hold a one; false when the unary part has none left. */
static bool next_word(page_cursor *cursor)
{
    while (cursor->word == 0) {
        cursor->word_start += 64;
        if (cursor->word_start >= cursor->view->unary_bits)
            return false;
        cursor->word = unary_word(cursor->view, cursor->word_start);
    }
    return true;
}

ksv_status page_cursor_next(page_cursor *cursor, uint64_t *x, uint64_t *payload,
                            bool *end, ksv_error *error)
{
    const page_view *view = cursor->view;
    bool more = cursor->word != 0 || next_word(cursor);
    *end = cursor->index == view->entries;
    if (more == *end)
        return page_set_corrupt(error, view->number,
                                "its unary part does not fit its entries");
    if (*end)
        return KSV_OK;
    size_t i = cursor->index++;
    size_t bit = cursor->word_start + bits_lowest(cursor->word);
    cursor->word &= cursor->word - 1;
    uint64_t high = bit - i;
    *x = view->base + ((high << view->low_bits) | low_part(view, i));
    *payload = page_payload(view, i);
    return KSV_OK;
}
