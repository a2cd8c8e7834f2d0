/* SPDX-License-Identifier: MIT */
/* Any bytes as the parts of one block of a sorted table behind a header that
 * fits them: walking it ends, with entries or an error. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sorted/block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD_BYTES 8
#define MOST_BYTES 65536

/* The first bytes say what the header says; the rest is behind it. */
static size_t make_block(const uint8_t *data, size_t size, uint8_t *block,
                         block_header *header)
{
    size_t stored = size - HEAD_BYTES;
    *header = (block_header){.stored_bytes = (uint32_t)stored,
                             .raw_bytes = load_u16(data),
                             .entries = load_u16(data + 2),
                             .flags = data[4] & SORTED_FLAGS,
                             .payload_bits = data[5] & 63u,
                             .base = load_u16(data + 6)};
    if ((header->flags & SORTED_FLAG_DEFLATED) == 0) {
        size_t tail = ((size_t)header->entries * header->payload_bits + 7) / 8;
        header->raw_bytes = (uint32_t)(tail < stored ? stored - tail : 0);
    }
    memcpy(block + SORTED_BLOCK_HEADER_BYTES, data + HEAD_BYTES, stored);
    sorted_encode_block(header, block);
    return SORTED_BLOCK_HEADER_BYTES + stored;
}

static void walk(const sorted_block *block, const ksv_allocator *allocator)
{
    block_walker walker;
    block_walker_init(&walker, allocator);
    block_walker_set(&walker, block);
    ksv_status status = block_walker_go(&walker, 0, NULL);
    uint64_t sum = 0;
    uint32_t entries = 0;
    while (status == KSV_OK && block_walker_is_at_entry(&walker)) {
        sum += block_payload(block, walker.entry) + walker.key.size;
        entries++;
        status = block_walker_next(&walker, NULL);
    }
    if (status == KSV_OK && entries != block->header.entries)
        abort();
    static const uint8_t key[] = "keykeykey";
    for (size_t i = 0; i < sizeof key; i++) {
        status = block_walker_seek(&walker, (sorted_key){key, i}, NULL);
        sum += (uint64_t)status;
    }
    block_walker_release(&walker);
    static volatile uint64_t sink;
    sink = sum;
    (void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static inflater decoder;
    ksv_allocator allocator = allocator_or_default(NULL);
    byte_buffer raw;
    sorted_block block;
    block_header header;
    if (size < HEAD_BYTES || size > MOST_BYTES)
        return 0;
    uint8_t *bytes =
        malloc(size + SORTED_BLOCK_HEADER_BYTES + BLOCK_READ_PADDING);
    if (bytes == NULL)
        return 0;
    size_t block_bytes = make_block(data, size, bytes, &header);
    memset(bytes + block_bytes, 0, BLOCK_READ_PADDING);
    block_place place = {0, (uint32_t)block_bytes, 0};
    buffer_init(&raw, &allocator);
    inflate_init(&decoder);
    if (block_open(&block, bytes, &place, 0, 0, &decoder, &raw, NULL) == KSV_OK)
        walk(&block, &allocator);
    buffer_release(&raw);
    free(bytes);
    return 0;
}
