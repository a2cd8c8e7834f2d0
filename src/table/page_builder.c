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

hash_entry *page_builder_room(page_builder *builder, size_t *room)
{
    if (builder->start + builder->count == builder->capacity) {
        memmove(builder->memory, page_builder_entries(builder),
                builder->count * sizeof *builder->memory);
        builder->start = 0;
    }
    *room = builder->capacity - builder->start - builder->count;
    return builder->memory + builder->start + builder->count;
}

static uint64_t x_of(const page_context *context, const hash_entry *entry)
{
    return table_x_of_hash(entry->hash, context->hash_bits);
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
static bool fits(const page_context *context, size_t count, uint64_t span)
{
    unsigned low_bits = best_low_bits(count, span);
    uint64_t zeros = span >> low_bits;
    return zeros + count * (1 + low_bits + context->payload_bits) <=
           TABLE_PAGE_BODY_BITS;
}

/* How many of `count` entries fit into a page. One more entry never takes less
 * room, so that the answer can be searched by halves. */
static size_t count_fitting(const page_builder *builder,
                            const hash_entry *entries, size_t count)
{
    const page_context *context = &builder->context;
    uint64_t base = x_of(context, &entries[0]);
    size_t fitting = 1;
    size_t too_many = (count < builder->most ? count : builder->most) + 1;
    while (too_many - fitting > 1) {
        size_t middle = fitting + (too_many - fitting) / 2;
        if (fits(context, middle, x_of(context, &entries[middle - 1]) - base))
            fitting = middle;
        else
            too_many = middle;
    }
    return fitting;
}

static void encode_header(const page_context *context, const page_cut *cut,
                          unsigned low_bits, uint64_t span, uint8_t *page)
{
    store_u32(page + PAGE_NUMBER, cut->number);
    store_u64(page + PAGE_BASE, x_of(context, cut->entries));
    store_u16(page + PAGE_ENTRIES, (uint16_t)cut->count);
    page[PAGE_LOW_BITS] = (uint8_t)low_bits;
    page[PAGE_FLAGS] = (uint8_t)cut->flags;
    store_u16(page + PAGE_UNARY_BITS,
              (uint16_t)(cut->count + (span >> low_bits)));
    store_u64(page + PAGE_TAG, context->tag);
}

/* Sets the bit of each entry in the unary part, which is all zeros. */
static void encode_unary(const page_context *context, const page_cut *cut,
                         unsigned low_bits, uint8_t *body)
{
    uint64_t base = x_of(context, cut->entries);
    uint64_t word = 0;
    uint64_t word_number = 0;
    for (size_t i = 0; i < cut->count; i++) {
        uint64_t y = x_of(context, &cut->entries[i]) - base;
        uint64_t bit = (y >> low_bits) + i;
        if (bit / 64 != word_number) {
            store_u64(body + 8 * word_number, word);
            word_number = bit / 64;
            word = 0;
        }
        word |= UINT64_C(1) << (bit % 64);
    }
    store_u64(body + 8 * word_number, word);
}

/* Low bits and payloads, behind the unary part, which ends at `bit`. */
static void encode_fields(const page_context *context, const page_cut *cut,
                          unsigned low_bits, size_t bit, uint8_t *body)
{
    uint8_t *next = body + bit / 8;
    bit_writer w = {next, *next & bits_mask(bit % 8), bit % 8};
    uint64_t base = x_of(context, cut->entries);
    if (low_bits > 0)
        for (size_t i = 0; i < cut->count; i++)
            bit_writer_put(&w, x_of(context, &cut->entries[i]) - base,
                           low_bits);
    for (size_t i = 0; i < cut->count; i++)
        bit_writer_put(&w, cut->entries[i].payload, context->payload_bits);
}

void page_encode(const page_context *context, const page_cut *cut,
                 uint8_t page[TABLE_PAGE_BYTES])
{
    /* Fields are stored a word at a time, also the last ones. */
    uint8_t room[TABLE_PAGE_BYTES + sizeof(uint64_t)] = {0};
    uint64_t span = x_of(context, &cut->entries[cut->count - 1]) -
                    x_of(context, cut->entries);
    unsigned low_bits = best_low_bits(cut->count, span);
    uint8_t *body = room + TABLE_PAGE_HEADER_BYTES;
    encode_header(context, cut, low_bits, span, room);
    encode_unary(context, cut, low_bits, body);
    encode_fields(context, cut, low_bits,
                  cut->count + (size_t)(span >> low_bits), body);
    store_u32(room + PAGE_CHECKSUM,
              hash_checksum32(room + 4, TABLE_PAGE_BYTES - 4));
    memcpy(page, room, TABLE_PAGE_BYTES);
}

/* Where the entries begin that are like the last of `count` in the top `bits`
 * bits. */
static size_t start_of_like(const hash_entry *entries, size_t count,
                            unsigned bits)
{
    uint64_t last = table_x_of_hash(entries[count - 1].hash, bits);
    size_t start = count - 1;
    while (start > 0 && table_x_of_hash(entries[start - 1].hash, bits) == last)
        start--;
    return start;
}

static bool is_like(const hash_entry *a, const hash_entry *b, unsigned bits)
{
    return table_x_of_hash(a->hash, bits) == table_x_of_hash(b->hash, bits);
}

/* How many of the `fitting` entries the page gets when more wait: never part of
 * a group, unless that group fills it; then never part of a run, unless that
 * run fills it. */
static size_t choose_cut(const page_context *context, const hash_entry *entries,
                         size_t fitting, unsigned *flags)
{
    const hash_entry *last = &entries[fitting - 1];
    const hash_entry *next = &entries[fitting];
    if (!is_like(last, next, TABLE_FENCE_BITS))
        return fitting;
    size_t group = start_of_like(entries, fitting, TABLE_FENCE_BITS);
    if (group > 0)
        return group;
    *flags = TABLE_FLAG_GROUP_AFTER;
    if (!is_like(last, next, context->hash_bits))
        return fitting;
    size_t run = start_of_like(entries, fitting, context->hash_bits);
    if (run > 0)
        return run;
    *flags |= TABLE_FLAG_RUN_AFTER;
    return fitting;
}

page_cut page_builder_plan(page_builder *builder, const hash_entry *entries,
                           size_t count, uint32_t number)
{
    unsigned after = 0;
    size_t taken = count_fitting(builder, entries, count);
    if (taken < count)
        taken = choose_cut(&builder->context, entries, taken, &after);
    page_cut cut = {entries, taken, number, builder->flags | after};
    builder->flags = 0;
    if ((after & TABLE_FLAG_GROUP_AFTER) != 0)
        builder->flags |= TABLE_FLAG_GROUP_BEFORE;
    if ((after & TABLE_FLAG_RUN_AFTER) != 0)
        builder->flags |= TABLE_FLAG_RUN_BEFORE;
    return cut;
}

void page_builder_cut(page_builder *builder, uint32_t number,
                      uint8_t page[TABLE_PAGE_BYTES])
{
    page_cut cut = page_builder_plan(builder, page_builder_entries(builder),
                                     builder->count, number);
    page_encode(&builder->context, &cut, page);
    builder->start += cut.count;
    builder->count -= cut.count;
}
