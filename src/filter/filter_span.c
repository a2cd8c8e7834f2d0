/* SPDX-License-Identifier: MIT */
/* A stretch of a filter's blocks, filled by any thread. */
#include "filter/filter_span.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/bloom_block.h"

void filter_span_init(filter_span *span, const ksv_allocator *allocator)
{
    *span = (filter_span){.allocator = allocator_or_default(allocator)};
}

void filter_span_release(filter_span *span)
{
    memory_free(&span->allocator, span->blocks,
                span->capacity * BLOOM_BLOCK_BYTES);
    *span = (filter_span){.allocator = span->allocator};
}

static uint8_t *block_of(const filter_span *span, uint64_t number)
{
    return span->blocks + (number - span->first_block) * BLOOM_BLOCK_BYTES;
}

/* A block in the making, with a byte for each bit: setting bits where others
 * were just set would make each wait for the one before. */
typedef struct loose_block {
    uint8_t bits[BLOOM_BLOCK_BITS]; /* 0 or 1 */
} loose_block;

/* Writes the block and empties it. Gathers the bits of eight bytes in the top
 * byte of a product, without carries. */
static void pack_block(loose_block *loose, uint8_t *block)
{
    for (size_t i = 0; i < BLOOM_BLOCK_BYTES; i++) {
        uint64_t eight = load_u64(loose->bits + 8 * i);
        block[i] = (uint8_t)(eight * UINT64_C(0x0102040810204080) >> 56);
        store_u64(loose->bits + 8 * i, 0);
    }
}

static inline void add_loose(loose_block *loose, uint64_t hash,
                             unsigned functions)
{
    uint64_t mixed = bloom_mix(hash);
    for (unsigned i = 0; i < functions; i++)
        loose->bits[bloom_probe_bit(mixed, i)] = 1;
}

/* `functions` is a constant where this is inlined. */
static inline uint64_t fill(filter_span *span,
                            const ksv_filter_options *options,
                            const hash_entry *entries, size_t count,
                            unsigned functions)
{
    const uint64_t mask = hash_entry_mask(options->hash_bits);
    const uint64_t blocks = options->plan.blocks;
    loose_block loose = {{0}};
    uint64_t current = span->first_block;
    uint64_t last = ~entries[0].hash & mask;
    uint64_t keys = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = entries[i].hash & mask;
        if (hash == last)
            continue;
        uint64_t number = bloom_block_number(hash, blocks);
        if (number != current) {
            pack_block(&loose, block_of(span, current));
            current = number;
        }
        add_loose(&loose, hash, functions);
        last = hash;
        keys++;
    }
    pack_block(&loose, block_of(span, current));
    return keys;
}

static uint64_t fill_by_functions(filter_span *span,
                                  const ksv_filter_options *options,
                                  const hash_entry *entries, size_t count)
{
    unsigned functions = options->plan.hash_functions;
    switch (functions) {
    case 6:
        return fill(span, options, entries, count, 6);
    case 7:
        return fill(span, options, entries, count, 7);
    case 9:
        return fill(span, options, entries, count, 9);
    default:
        return fill(span, options, entries, count, functions);
    }
}

ksv_status filter_span_fill(filter_span *span,
                            const ksv_filter_options *options,
                            const hash_entry *entries, size_t count,
                            ksv_error *error)
{
    uint64_t blocks = options->plan.blocks;
    span->first_hash = ksv_hash_truncate(entries[0].hash, options->hash_bits);
    span->last_hash =
        ksv_hash_truncate(entries[count - 1].hash, options->hash_bits);
    span->first_block = bloom_block_number(span->first_hash, blocks);
    uint64_t wanted =
        bloom_block_number(span->last_hash, blocks) - span->first_block + 1;
    if (wanted > SIZE_MAX / BLOOM_BLOCK_BYTES)
        return error_set_memory(error);
    void *memory = span->blocks;
    ksv_status status = memory_grow(&span->allocator, &memory, &span->capacity,
                                    (size_t)wanted, BLOOM_BLOCK_BYTES, error);
    span->blocks = memory;
    KSV_TRY(status);
    span->block_count = (size_t)wanted;
    memset(span->blocks, 0, span->block_count * BLOOM_BLOCK_BYTES);
    span->keys = fill_by_functions(span, options, entries, count);
    return KSV_OK;
}
