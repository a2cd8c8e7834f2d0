/* SPDX-License-Identifier: MIT */
/* Greedy packing of entries into pages, Elias-Fano coded. */
#include "table/page_builder.h"

#include <string.h>

#include "base/error.h"
#include "hash/hash.h"

ksv_status page_builder_init(page_builder *builder, const page_context *context,
                             const ksv_allocator *allocator, ksv_error *error)
{
    *builder = (page_builder){.context = *context};
    /* An entry takes its payload and one bit of the unary part at least. */
    builder->capacity = TABLE_PAGE_BODY_BITS / (1 + context->payload_bits);
    builder->entries = memory_zalloc_array(allocator, builder->capacity,
                                           sizeof *builder->entries);
    return builder->entries != NULL ? KSV_OK : error_set_memory(error);
}

void page_builder_release(page_builder *builder, const ksv_allocator *allocator)
{
    memory_free(allocator, builder->entries,
                builder->capacity * sizeof *builder->entries);
    builder->entries = NULL;
}

/* Whether `count` entries that span `span` fit with `low_bits`. */
static bool fits_with(const page_builder *builder, size_t count, uint64_t span,
                      unsigned low_bits)
{
    uint64_t zeros = span >> low_bits;
    return zeros <= TABLE_PAGE_BODY_BITS &&
           zeros + count * (1 + low_bits + builder->context.payload_bits) <=
               TABLE_PAGE_BODY_BITS;
}

/* The number of low bits that takes least room. One more costs `count` bits and
 * saves half of the zeros (rounded up): it pays until zeros <= 2 * count. */
static unsigned best_low_bits(size_t count, uint64_t span)
{
    uint64_t limit = 2 * (uint64_t)count;
    unsigned wanted = bits_length(span);
    unsigned have = bits_length(limit);
    unsigned low_bits = wanted > have ? wanted - have : 0;
    return span >> low_bits > limit ? low_bits + 1 : low_bits;
}

bool page_builder_fits(page_builder *builder, uint64_t x)
{
    if (builder->count == 0)
        return true;
    uint64_t span = x - builder->entries[0].x;
    size_t count = builder->count + 1;
    if (fits_with(builder, count, span, builder->low_bits))
        return true;
    builder->low_bits = best_low_bits(count, span);
    return fits_with(builder, count, span, builder->low_bits);
}

static uint32_t fence_of(const page_builder *builder, uint64_t x)
{
    return table_fence_of_x(x, builder->context.hash_bits);
}

void page_builder_push(page_builder *builder, uint64_t x, uint64_t payload)
{
    size_t i = builder->count++;
    builder->entries[i] = (page_entry){x, payload};
    if (i == 0) {
        builder->group_start = builder->run_start = 0;
        return;
    }
    uint64_t before = builder->entries[i - 1].x;
    if (x != before)
        builder->run_start = i;
    if (fence_of(builder, x) != fence_of(builder, before))
        builder->group_start = i;
}

static void encode_header(const page_builder *builder, size_t count,
                          unsigned low_bits, unsigned flags, uint32_t number,
                          uint8_t page[TABLE_PAGE_BYTES])
{
    uint64_t base = builder->entries[0].x;
    uint64_t span = builder->entries[count - 1].x - base;
    store_u32(page + PAGE_NUMBER, number);
    store_u64(page + PAGE_BASE, base);
    store_u16(page + PAGE_ENTRIES, (uint16_t)count);
    page[PAGE_LOW_BITS] = (uint8_t)low_bits;
    page[PAGE_FLAGS] = (uint8_t)flags;
    store_u16(page + PAGE_UNARY_BITS, (uint16_t)(count + (span >> low_bits)));
    store_u64(page + PAGE_TAG, builder->context.tag);
}

/* The first `count` entries as a page. */
static void encode_page(const page_builder *builder, size_t count,
                        unsigned flags, uint32_t number,
                        uint8_t page[TABLE_PAGE_BYTES])
{
    const page_entry *entries = builder->entries;
    uint64_t base = entries[0].x;
    unsigned low_bits = best_low_bits(count, entries[count - 1].x - base);
    memset(page, 0, TABLE_PAGE_BYTES);
    encode_header(builder, count, low_bits, flags, number, page);
    bit_writer w = {.next = page + TABLE_PAGE_HEADER_BYTES};
    uint64_t high = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t next_high = (entries[i].x - base) >> low_bits;
        bit_writer_put_unary(&w, next_high - high);
        high = next_high;
    }
    uint64_t low_mask = bits_mask(low_bits);
    for (size_t i = 0; i < count; i++)
        bit_writer_put(&w, (entries[i].x - base) & low_mask, low_bits);
    for (size_t i = 0; i < count; i++)
        bit_writer_put(&w, entries[i].payload, builder->context.payload_bits);
    bit_writer_finish(&w);
    store_u32(page + PAGE_CHECKSUM,
              hash_checksum32(page + 4, TABLE_PAGE_BYTES - 4));
}

/* How many entries the page before `next_x` gets: never part of a group, unless
 * that group fills it; then never part of a run, unless that run fills it. */
static size_t choose_cut(const page_builder *builder, uint64_t next_x,
                         unsigned *flags)
{
    uint64_t last_x = builder->entries[builder->count - 1].x;
    *flags = 0;
    if (fence_of(builder, next_x) != fence_of(builder, last_x))
        return builder->count;
    if (builder->group_start > 0)
        return builder->group_start;
    *flags = TABLE_FLAG_GROUP_AFTER;
    if (next_x != last_x)
        return builder->count;
    if (builder->run_start > 0)
        return builder->run_start;
    *flags |= TABLE_FLAG_RUN_AFTER;
    return builder->count;
}

/* Removes the first `count` entries. What stays is of one group, and of one run
 * when that group was cut. */
static void drop_entries(page_builder *builder, size_t count)
{
    builder->count -= count;
    memmove(builder->entries, builder->entries + count,
            builder->count * sizeof *builder->entries);
    builder->group_start = 0;
    builder->run_start =
        builder->run_start > count ? builder->run_start - count : 0;
}

void page_builder_cut(page_builder *builder, uint64_t next_x, uint32_t number,
                      uint8_t page[TABLE_PAGE_BYTES])
{
    unsigned after;
    size_t count = choose_cut(builder, next_x, &after);
    encode_page(builder, count, builder->flags | after, number, page);
    drop_entries(builder, count);
    builder->flags = 0;
    if ((after & TABLE_FLAG_GROUP_AFTER) != 0)
        builder->flags |= TABLE_FLAG_GROUP_BEFORE;
    if ((after & TABLE_FLAG_RUN_AFTER) != 0)
        builder->flags |= TABLE_FLAG_RUN_BEFORE;
}

void page_builder_cut_last(page_builder *builder, uint32_t number,
                           uint8_t page[TABLE_PAGE_BYTES])
{
    encode_page(builder, builder->count, builder->flags, number, page);
    drop_entries(builder, builder->count);
}
