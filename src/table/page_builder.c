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
    builder->most = TABLE_PAGE_BODY_BITS / (1 + context->payload_bits);
    builder->capacity = 2 * builder->most;
    builder->memory = memory_zalloc_array(allocator, builder->capacity,
                                          sizeof *builder->memory);
    return builder->memory != NULL ? KSV_OK : error_set_memory(error);
}

void page_builder_release(page_builder *builder, const ksv_allocator *allocator)
{
    memory_free(allocator, builder->memory,
                builder->capacity * sizeof *builder->memory);
    builder->memory = NULL;
}

page_entry *page_builder_room(page_builder *builder, size_t *room)
{
    if (builder->start + builder->count == builder->capacity) {
        memmove(builder->memory, page_builder_entries(builder),
                builder->count * sizeof *builder->memory);
        builder->start = 0;
    }
    *room = builder->capacity - builder->start - builder->count;
    return builder->memory + builder->start + builder->count;
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

/* Whether `count` entries that span `span` fit into a page. */
static bool fits(const page_builder *builder, size_t count, uint64_t span)
{
    unsigned low_bits = best_low_bits(count, span);
    uint64_t zeros = span >> low_bits;
    return zeros + count * (1 + low_bits + builder->context.payload_bits) <=
           TABLE_PAGE_BODY_BITS;
}

/* How many of the entries that wait fit into a page. One more entry never takes
 * less room, so that the answer can be searched by halves. */
static size_t count_fitting(const page_builder *builder)
{
    const page_entry *entries = page_builder_entries(builder);
    size_t fitting = 1;
    size_t too_many =
        (builder->count < builder->most ? builder->count : builder->most) + 1;
    while (too_many - fitting > 1) {
        size_t middle = fitting + (too_many - fitting) / 2;
        if (fits(builder, middle, entries[middle - 1].x - entries[0].x))
            fitting = middle;
        else
            too_many = middle;
    }
    return fitting;
}

static uint32_t fence_of(const page_builder *builder, uint64_t x)
{
    return table_fence_of_x(x, builder->context.hash_bits);
}

static void encode_header(const page_builder *builder, size_t count,
                          unsigned low_bits, unsigned flags, uint32_t number,
                          uint8_t page[TABLE_PAGE_BYTES])
{
    const page_entry *entries = page_builder_entries(builder);
    uint64_t base = entries[0].x;
    uint64_t span = entries[count - 1].x - base;
    store_u32(page + PAGE_NUMBER, number);
    store_u64(page + PAGE_BASE, base);
    store_u16(page + PAGE_ENTRIES, (uint16_t)count);
    page[PAGE_LOW_BITS] = (uint8_t)low_bits;
    page[PAGE_FLAGS] = (uint8_t)flags;
    store_u16(page + PAGE_UNARY_BITS, (uint16_t)(count + (span >> low_bits)));
    store_u64(page + PAGE_TAG, builder->context.tag);
}

/* Sets the bit of each entry in the unary part, which is all zeros. */
static void encode_unary(const page_entry *entries, size_t count,
                         unsigned low_bits, uint8_t *body)
{
    uint64_t base = entries[0].x;
    uint64_t word = 0;
    uint64_t word_number = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bit = ((entries[i].x - base) >> low_bits) + i;
        if (bit / 64 != word_number) {
            store_u64(body + 8 * word_number, word);
            word_number = bit / 64;
            word = 0;
        }
        word |= UINT64_C(1) << (bit % 64);
    }
    store_u64(body + 8 * word_number, word);
}

/* A writer that goes on at `bit`, behind what was written. */
static bit_writer writer_at(uint8_t *body, size_t bit)
{
    uint8_t *next = body + bit / 64 * 8;
    return (bit_writer){next, load_u64(next) & bits_mask(bit % 64), bit % 64};
}

/* The first `count` entries as a page. */
static void encode_page(const page_builder *builder, size_t count,
                        unsigned flags, uint32_t number,
                        uint8_t page[TABLE_PAGE_BYTES])
{
    const page_entry *entries = page_builder_entries(builder);
    uint64_t base = entries[0].x;
    uint64_t span = entries[count - 1].x - base;
    unsigned low_bits = best_low_bits(count, span);
    unsigned payload_bits = builder->context.payload_bits;
    memset(page, 0, TABLE_PAGE_BYTES);
    encode_header(builder, count, low_bits, flags, number, page);
    uint8_t *body = page + TABLE_PAGE_HEADER_BYTES;
    encode_unary(entries, count, low_bits, body);
    bit_writer w = writer_at(body, count + (size_t)(span >> low_bits));
    uint64_t low_mask = bits_mask(low_bits);
    for (size_t i = 0; i < count; i++)
        bit_writer_put(&w, (entries[i].x - base) & low_mask, low_bits);
    for (size_t i = 0; i < count; i++)
        bit_writer_put(&w, entries[i].payload, payload_bits);
    bit_writer_finish(&w);
    store_u32(page + PAGE_CHECKSUM,
              hash_checksum32(page + 4, TABLE_PAGE_BYTES - 4));
}

/* Where the entries begin that are like the last of `count` in the top bits
 * that remain after `shift`. */
static size_t start_of_like(const page_entry *entries, size_t count,
                            unsigned shift)
{
    uint64_t last = entries[count - 1].x >> shift;
    size_t start = count - 1;
    while (start > 0 && entries[start - 1].x >> shift == last)
        start--;
    return start;
}

/* How many of the `fitting` entries the page gets when more wait: never part of
 * a group, unless that group fills it; then never part of a run, unless that
 * run fills it. */
static size_t choose_cut(const page_builder *builder, size_t fitting,
                         unsigned *flags)
{
    const page_entry *entries = page_builder_entries(builder);
    uint64_t last_x = entries[fitting - 1].x;
    uint64_t next_x = entries[fitting].x;
    if (fence_of(builder, next_x) != fence_of(builder, last_x))
        return fitting;
    size_t group =
        start_of_like(entries, fitting, builder->context.hash_bits - 32);
    if (group > 0)
        return group;
    *flags = TABLE_FLAG_GROUP_AFTER;
    if (next_x != last_x)
        return fitting;
    size_t run = start_of_like(entries, fitting, 0);
    if (run > 0)
        return run;
    *flags |= TABLE_FLAG_RUN_AFTER;
    return fitting;
}

void page_builder_cut(page_builder *builder, uint32_t number,
                      uint8_t page[TABLE_PAGE_BYTES])
{
    unsigned after = 0;
    size_t count = count_fitting(builder);
    if (count < builder->count)
        count = choose_cut(builder, count, &after);
    encode_page(builder, count, builder->flags | after, number, page);
    builder->start += count;
    builder->count -= count;
    builder->flags = 0;
    if ((after & TABLE_FLAG_GROUP_AFTER) != 0)
        builder->flags |= TABLE_FLAG_GROUP_BEFORE;
    if ((after & TABLE_FLAG_RUN_AFTER) != 0)
        builder->flags |= TABLE_FLAG_RUN_BEFORE;
}
