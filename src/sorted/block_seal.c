/* SPDX-License-Identifier: MIT */
/* A block on its way from the builder to the file, sealed by any thread. */
#include "sorted/block_seal.h"

#include "base/error.h"

static void seal(void *ctx)
{
    block_slot *slot = ctx;
    slot->status =
        block_builder_seal(&slot->builder, &slot->header, slot->deflater,
                           &slot->sealed, &slot->error);
}

ksv_status block_slot_init(block_slot *slot, const ksv_allocator *allocator,
                           ksv_error *error)
{
    *slot = (block_slot){.task = {.run = seal, .ctx = slot}};
    block_builder_init(&slot->builder, allocator);
    buffer_init(&slot->separator, allocator);
    buffer_init(&slot->sealed, allocator);
    return zlib_deflater_open(ZLIB_KEYS, allocator, &slot->deflater, error);
}

void block_slot_release(block_slot *slot, thread_pool *pool)
{
    if (slot->builder.allocator == NULL)
        return;
    if (slot->submitted)
        thread_pool_wait(pool, &slot->task);
    block_builder_release(&slot->builder);
    buffer_release(&slot->separator);
    buffer_release(&slot->sealed);
    zlib_deflater_close(slot->deflater);
}

void block_slot_seal(block_slot *slot, thread_pool *pool)
{
    slot->submitted = pool != NULL;
    if (pool != NULL)
        thread_pool_submit(pool, &slot->task);
    else
        seal(slot);
}

ksv_status block_slot_wait(block_slot *slot, thread_pool *pool,
                           ksv_error *error)
{
    if (slot->submitted)
        thread_pool_wait(pool, &slot->task);
    slot->submitted = false;
    if (slot->status != KSV_OK && error != NULL)
        *error = slot->error;
    return slot->status;
}

uint64_t block_slot_raw_bytes(const block_slot *slot)
{
    const block_header *h = &slot->header;
    uint64_t tail = h->level > 0
                        ? h->base
                        : ((uint64_t)h->entries * h->payload_bits + 7) / 8;
    return SORTED_BLOCK_HEADER_BYTES + h->raw_bytes + tail;
}
