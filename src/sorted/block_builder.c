/* SPDX-License-Identifier: MIT */
/* Puts entries together to a block of a sorted table. */
#include "sorted/block_builder.h"

#include <string.h>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/error.h"
#include "base/varint.h"

/* Deflating pays when it saves one byte in so many: the time of inflating is
 * that of reading far more. */
#define SAVED_SHARE 8

/* An index entry has three numbers. */
#define PLACE_MOST_BYTES ((size_t)3 * VARINT_MOST_BYTES)
#define ENTRY_HEAD_BYTES ((size_t)2 * VARINT_MOST_BYTES_U32)

void block_builder_init(block_builder *builder, const ksv_allocator *allocator)
{
    *builder = (block_builder){.allocator = allocator};
    buffer_init(&builder->keys, allocator);
    buffer_init(&builder->last, allocator);
    buffer_init(&builder->places, allocator);
}

void block_builder_release(block_builder *builder)
{
    if (builder->allocator == NULL)
        return;
    buffer_release(&builder->keys);
    buffer_release(&builder->last);
    buffer_release(&builder->places);
    memory_free(builder->allocator, builder->restarts,
                builder->restart_capacity * sizeof *builder->restarts);
    memory_free(builder->allocator, builder->payloads,
                builder->payload_capacity * sizeof *builder->payloads);
}

void block_builder_clear(block_builder *builder)
{
    buffer_clear(&builder->keys);
    buffer_clear(&builder->last);
    buffer_clear(&builder->places);
    builder->entries = 0;
    builder->last_place = (block_place){0};
}

size_t block_builder_size_with(const block_builder *builder, sorted_key key,
                               unsigned payload_bits)
{
    uint32_t entries = builder->entries + 1;
    size_t keys = builder->keys.size + 2 + key.size_bytes;
    if (builder->entries % SORTED_RESTART_ENTRIES != 0) {
        size_t most = key.size_bytes < builder->last.size ? key.size_bytes
                                                          : builder->last.size;
        keys -= bytes_common(key.data, builder->last.data, 0, most);
    }
    size_t tail = payload_bits > 0 ? ((size_t)entries * payload_bits + 7) / 8
                                   : builder->places.size + 4;
    return keys + sorted_restart_count(entries) * sorted_restart_bytes(keys) +
           tail;
}

static ksv_status add_restart(block_builder *b, ksv_error *error)
{
    size_t count = sorted_restart_count(b->entries + 1);
    void *restarts = b->restarts;
    ksv_status status =
        memory_grow(b->allocator, &restarts, &b->restart_capacity, count,
                    sizeof *b->restarts, error);
    b->restarts = restarts;
    KSV_TRY(status);
    b->restarts[count - 1] = (uint32_t)b->keys.size;
    return KSV_OK;
}

/* What two numbers and a key need at most in the buffer. */
static ksv_status check_room(const block_builder *b, sorted_key key,
                             ksv_error *error)
{
    if (key.size_bytes > SORTED_MOST_KEY_BYTES ||
        b->keys.size > UINT32_MAX - SORTED_MOST_KEY_BYTES - ENTRY_HEAD_BYTES)
        return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                         "a sorted table cannot have keys of more than 1 GiB");
    return KSV_OK;
}

static ksv_status add_key(block_builder *b, sorted_key key, ksv_error *error)
{
    size_t common = 0;
    KSV_TRY(check_room(b, key, error));
    if (b->entries % SORTED_RESTART_ENTRIES != 0) {
        size_t most =
            key.size_bytes < b->last.size ? key.size_bytes : b->last.size;
        common = bytes_common(key.data, b->last.data, 0, most);
    } else if (b->entries > 0) {
        KSV_TRY(add_restart(b, error));
    }
    size_t rest = key.size_bytes - common;
    KSV_TRY(buffer_reserve(&b->keys, ENTRY_HEAD_BYTES + rest, error));
    uint8_t *start = b->keys.data + b->keys.size;
    uint8_t *end = varint_put(varint_put(start, common), rest);
    b->last.size = common;
    if (rest > 0) {
        memcpy(end, key.data + common, rest);
        KSV_TRY(buffer_append(&b->last, key.data + common, rest, error));
    }
    b->keys.size += (size_t)(end - start) + rest;
    b->entries++;
    return KSV_OK;
}

ksv_status block_builder_add(block_builder *builder, sorted_key key,
                             uint64_t payload, ksv_error *error)
{
    void *payloads = builder->payloads;
    ksv_status status = memory_grow(
        builder->allocator, &payloads, &builder->payload_capacity,
        builder->entries + (size_t)1, sizeof *builder->payloads, error);
    builder->payloads = payloads;
    KSV_TRY(status);
    builder->payloads[builder->entries] = payload;
    return add_key(builder, key, error);
}

ksv_status block_builder_add_place(block_builder *builder, sorted_key key,
                                   bool continues, const block_place *place,
                                   ksv_error *error)
{
    KSV_TRY(buffer_reserve(&builder->places, PLACE_MOST_BYTES, error));
    KSV_TRY(add_key(builder, key, error));
    const block_place *before = &builder->last_place;
    bool first = builder->entries == 1;
    uint64_t end = before->offset + before->size_bytes;
    uint64_t number = before->number + (first ? 0u : 1u);
    uint8_t *p = builder->places.data + builder->places.size;
    p = varint_put(p, (uint64_t)place->size_bytes << 1 | (continues ? 1 : 0));
    p = varint_put(p, place->number - number);
    p = varint_put(p, place->offset - end);
    builder->places.size = (size_t)(p - builder->places.data);
    builder->last_place = *place;
    return KSV_OK;
}

void block_builder_cut(block_builder *builder, uint32_t entries,
                       size_t keys_bytes)
{
    builder->entries = entries;
    builder->keys.size = keys_bytes;
}

ksv_status block_builder_end(block_builder *builder, ksv_error *error)
{
    byte_buffer *keys = &builder->keys;
    size_t bytes = sorted_restart_bytes(keys->size);
    size_t count = sorted_restart_count(builder->entries);
    KSV_TRY(buffer_reserve(keys, count * bytes, error));
    for (size_t i = 0; i < count; i++, keys->size += bytes) {
        if (bytes == 2)
            store_u16(keys->data + keys->size, (uint16_t)builder->restarts[i]);
        else
            store_u32(keys->data + keys->size, builder->restarts[i]);
    }
    return KSV_OK;
}

/* The lowest payload and the bits that the others are above it. */
static unsigned measure_payloads(const block_builder *b, uint64_t *lowest)
{
    uint64_t low = b->payloads[0], high = low;
    for (uint32_t i = 1; i < b->entries; i++) {
        low = b->payloads[i] < low ? b->payloads[i] : low;
        high = b->payloads[i] > high ? b->payloads[i] : high;
    }
    unsigned bits = 0;
    while (bits < SORTED_MOST_PAYLOAD_BITS && (high - low) >> bits != 0)
        bits++;
    *lowest = low;
    return bits;
}

/* `bytes` are zeros as far as the payloads reach, and some more. */
static void pack_payloads(const block_builder *b, uint64_t base, unsigned bits,
                          uint8_t *bytes)
{
    uint64_t at = 0;
    for (uint32_t i = 0; bits > 0 && i < b->entries; i++, at += bits) {
        uint8_t *p = bytes + at / 8;
        store_u64(p, load_u64(p) | (b->payloads[i] - base) << (at % 8));
    }
}

/* The size of the keys as they are written behind the header. */
static size_t write_keys(const block_builder *b, zlib_deflater *deflater,
                         block_header *header, uint8_t *to)
{
    size_t most = b->keys.size - b->keys.size / SAVED_SHARE;
    size_t written =
        zlib_deflate(deflater, b->keys.data, b->keys.size, to, most);
    if (written > 0) {
        header->flags |= SORTED_FLAG_DEFLATED;
        return written;
    }
    memcpy(to, b->keys.data, b->keys.size);
    return b->keys.size;
}

ksv_status block_builder_seal(block_builder *builder, block_header *header,
                              zlib_deflater *deflater, byte_buffer *out,
                              ksv_error *error)
{
    size_t tail = builder->places.size;
    header->base = tail;
    header->payload_bits = 0;
    if (header->level == 0) {
        header->payload_bits = measure_payloads(builder, &header->base);
        tail = ((size_t)builder->entries * header->payload_bits + 7) / 8;
    }
    buffer_clear(out);
    KSV_TRY(buffer_reserve(out,
                           SORTED_BLOCK_HEADER_BYTES + builder->keys.size +
                               tail + sizeof(uint64_t),
                           error));
    uint8_t *keys = out->data + SORTED_BLOCK_HEADER_BYTES;
    uint8_t *at = keys + write_keys(builder, deflater, header, keys);
    if (header->level == 0) {
        memset(at, 0, tail + sizeof(uint64_t));
        pack_payloads(builder, header->base, header->payload_bits, at);
    } else {
        memcpy(at, builder->places.data, tail);
    }
    header->raw_bytes = (uint32_t)builder->keys.size;
    header->entries = builder->entries;
    header->stored_bytes = (uint32_t)(at + tail - keys);
    sorted_encode_block(header, out->data);
    out->size = SORTED_BLOCK_HEADER_BYTES + header->stored_bytes;
    return KSV_OK;
}
