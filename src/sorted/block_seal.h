/* SPDX-License-Identifier: MIT */
/* A block on its way from the builder to the file, sealed by any thread. */
#ifndef KSV_SORTED_BLOCK_SEAL_H
#define KSV_SORTED_BLOCK_SEAL_H

#include "base/thread_pool.h"
#include "sorted/block_builder.h"

/* One thread at a time, but for what block_slot_seal() begins. All zero is one
 * that may be released. */
typedef struct block_slot {
    block_builder builder;
    byte_buffer separator; /* the key with which the index leads to it */
    bool continues;        /* what the index says of it */
    block_header header; /* number, tag, flags and level, before it is sealed */
    byte_buffer sealed;
    zlib_deflater *deflater;
    thread_task task;
    bool submitted;
    ksv_status status;
    ksv_error error;
} block_slot;

/* To be released in every case. */
ksv_status block_slot_init(block_slot *slot, const ksv_allocator *allocator,
                           ksv_error *error);
/* Waits for the pool, if there is one. */
void block_slot_release(block_slot *slot, thread_pool *pool);

/* Seals the block, which was ended; NULL: here and now. */
void block_slot_seal(block_slot *slot, thread_pool *pool);
/* Returns when it is sealed, with what came of it. */
ksv_status block_slot_wait(block_slot *slot, thread_pool *pool,
                           ksv_error *error);

/* Bytes of a block that is sealed, before deflating. */
uint64_t block_slot_raw_bytes(const block_slot *slot);

#endif
