/* SPDX-License-Identifier: MIT */
/* Filters in memory put together, made smaller, and looked at as a whole. */
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "filter/bloom_block.h"
#include "filter/filter_builder.h"
#include "filter/filter_format.h"
#include "filter/filter_geometry.h"

static ksv_status fail_mismatch(const ksv_filter_builder *builder,
                                const ksv_filter_builder *other,
                                ksv_error *error)
{
    char ours[FILTER_GEOMETRY_BYTES];
    char theirs[FILTER_GEOMETRY_BYTES];
    filter_describe(&builder->options, ours);
    filter_describe(&other->options, theirs);
    return error_set(error, KSV_ERROR_MISMATCH, NULL,
                     "the filters differ: %s; and %s", ours, theirs);
}

/* What the bits tell, within what the two numbers allow. */
static double merged_keys(const ksv_filter_builder *builder, double ours,
                          double theirs, uint64_t set_bits)
{
    double keys = (double)filter_keys_of_bits(&builder->options.plan, set_bits);
    double most = ours + theirs;
    double least = ours > theirs ? ours : theirs;
    if (keys > most)
        return most;
    return keys < least ? least : keys;
}

ksv_status ksv_filter_builder_merge(ksv_filter_builder *builder,
                                    ksv_filter_builder *other, ksv_error *error)
{
    if (!filter_same_geometry(&builder->options, &other->options))
        return fail_mismatch(builder, other, error);
    filter_builder_flush(builder);
    filter_builder_flush(other);
    for (size_t i = 0; i < builder->data_bytes; i++)
        builder->data[i] |= other->data[i];
    double keys = merged_keys(builder, builder->count.keys, other->count.keys,
                              ksv_filter_builder_count_bits(builder));
    filter_count_set(&builder->count, keys);
    return KSV_OK;
}

/* Block i of the smaller filter is made of the blocks i * factor and on, which
 * lie behind all that is written before. */
static void fold_blocks(uint8_t *data, uint64_t blocks, uint64_t factor)
{
    for (uint64_t i = 0; i < blocks; i++) {
        uint8_t *to = data + i * BLOOM_BLOCK_BYTES;
        const uint8_t *from = data + i * factor * BLOOM_BLOCK_BYTES;
        memmove(to, from, BLOOM_BLOCK_BYTES);
        for (uint64_t j = 1; j < factor; j++) {
            from += BLOOM_BLOCK_BYTES;
            for (unsigned b = 0; b < BLOOM_BLOCK_BYTES; b++)
                to[b] |= from[b];
        }
    }
}

ksv_status ksv_filter_builder_fold(ksv_filter_builder *builder, uint64_t factor,
                                   ksv_error *error)
{
    ksv_filter_plan *plan = &builder->options.plan;
    if (plan->kind != KSV_FILTER_BLOCKED || factor == 0 ||
        plan->blocks % factor != 0)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a filter of %llu blocks cannot be folded by %llu",
                         (unsigned long long)plan->blocks,
                         (unsigned long long)factor);
    filter_builder_flush(builder);
    uint64_t blocks = plan->blocks / factor;
    fold_blocks(builder->data, blocks, factor);
    plan->blocks = blocks;
    plan->bits = blocks * BLOOM_BLOCK_BITS;
    plan->file_bytes = filter_layout_of(blocks).file_bytes;
    builder->data_bytes = (size_t)blocks * BLOOM_BLOCK_BYTES;
    return KSV_OK;
}

void ksv_filter_builder_set_keys(ksv_filter_builder *builder, uint64_t keys)
{
    filter_builder_flush(builder);
    filter_count_set(&builder->count, (double)keys);
}

void ksv_filter_builder_get_info(ksv_filter_builder *builder,
                                 ksv_filter_info *info)
{
    filter_builder_flush(builder);
    info->options = builder->options;
    info->keys = (uint64_t)(builder->count.keys + 0.5);
    info->file_bytes = builder->options.plan.file_bytes;
}

uint64_t ksv_filter_builder_count_bits(ksv_filter_builder *builder)
{
    uint64_t bits = 0;
    filter_builder_flush(builder);
    for (size_t i = 0; i < builder->data_bytes; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, builder->data + i, sizeof word);
        bits += bits_count(word);
    }
    return bits;
}
