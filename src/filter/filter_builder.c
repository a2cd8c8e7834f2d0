/* SPDX-License-Identifier: MIT */
/* A filter filled in memory, in any order. */
#include <keysieve/filter.h>

#include "base/error.h"
#include "filter/bloom_block.h"
#include "filter/filter_memory.h"
#include "filter/filter_output.h"

struct ksv_filter_builder {
    ksv_allocator allocator;
    ksv_filter_options options;
    filter_memory blocks;
};

ksv_status ksv_filter_builder_open(const ksv_filter_options *options,
                                   const ksv_allocator *allocator,
                                   ksv_filter_builder **builder,
                                   ksv_error *error)
{
    *builder = NULL;
    KSV_TRY(filter_options_check(options, error));
    ksv_allocator a = allocator_or_default(allocator);
    ksv_filter_builder *b = memory_zalloc(&a, sizeof *b);
    if (b == NULL)
        return error_set_memory(error);
    b->allocator = a;
    b->options = *options;
    ksv_status status = filter_memory_init(
        &b->blocks, &b->allocator,
        filter_layout_of(options->plan.blocks).body_bytes, error);
    if (status != KSV_OK) {
        ksv_filter_builder_close(b);
        return status;
    }
    filter_memory_clear(&b->blocks);
    *builder = b;
    return KSV_OK;
}

static uint8_t *block_of(const ksv_filter_builder *builder, uint64_t truncated)
{
    uint64_t number =
        bloom_block_number(truncated, builder->options.plan.blocks);
    return builder->blocks.data + number * BLOOM_BLOCK_BYTES;
}

void ksv_filter_builder_add(ksv_filter_builder *builder, uint64_t hash)
{
    uint64_t x = ksv_hash_truncate(hash, builder->options.hash_bits);
    bloom_block_add(block_of(builder, x), x,
                    builder->options.plan.hash_functions);
}

bool ksv_filter_builder_may_contain(const ksv_filter_builder *builder,
                                    uint64_t hash)
{
    uint64_t x = ksv_hash_truncate(hash, builder->options.hash_bits);
    return bloom_block_may_contain(block_of(builder, x), x,
                                   builder->options.plan.hash_functions);
}

ksv_status ksv_filter_builder_write(const ksv_filter_builder *builder,
                                    uint64_t keys, ksv_file *file,
                                    ksv_error *error)
{
    filter_output output;
    ksv_status status = filter_output_begin(&output, file, &builder->options,
                                            &builder->allocator, error);
    if (status == KSV_OK)
        status = filter_output_body(&output, builder->blocks.data,
                                    builder->blocks.size_bytes, error);
    if (status == KSV_OK)
        status = filter_output_finish(&output, keys, error);
    filter_output_release(&output);
    return status;
}

void ksv_filter_builder_close(ksv_filter_builder *builder)
{
    if (builder == NULL)
        return;
    ksv_allocator a = builder->allocator;
    filter_memory_release(&builder->blocks, &a);
    memory_free(&a, builder, sizeof *builder);
}
