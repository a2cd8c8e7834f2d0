/* SPDX-License-Identifier: MIT */
/* A filter filled in memory, in any order. */
#include "filter/filter_builder.h"

#include <string.h>

#include "base/error.h"
#include "base/prefetch.h"
#include "filter/bloom_block.h"
#include "filter/bloom_classic.h"
#include "filter/filter_format.h"
#include "io/large_pages.h"

void ksv_filter_options_init(ksv_filter_options *options)
{
    *options = (ksv_filter_options){.hash_bits = 64,
                                    .hasher = {.kind = KSV_HASH_XXH3},
                                    .is_standalone = true};
}

ksv_status filter_builder_make(const ksv_filter_options *options,
                               const ksv_allocator *allocator,
                               ksv_filter_builder **builder, ksv_error *error)
{
    *builder = NULL;
    KSV_TRY(filter_options_check(options, error));
    ksv_allocator a = allocator_or_default(allocator);
    ksv_filter_builder *b = memory_zalloc(&a, sizeof *b);
    if (b == NULL)
        return error_set_memory(error);
    b->allocator = a;
    b->options = *options;
    filter_layout layout = filter_layout_of(options->plan.blocks);
    b->options.plan.file_bytes = layout.file_bytes;
    if (options->plan.kind == KSV_FILTER_BLOCKED)
        b->options.plan.bits = options->plan.blocks * BLOOM_BLOCK_BITS;
    b->data_bytes = (size_t)layout.body_bytes;
    b->probe = bloom_probe_choose();
    *builder = b;
    return KSV_OK;
}

ksv_status ksv_filter_builder_open(const ksv_filter_options *options,
                                   const ksv_allocator *allocator,
                                   ksv_filter_builder **builder,
                                   ksv_error *error)
{
    ksv_filter_builder *b;
    *builder = NULL;
    KSV_TRY(filter_builder_make(options, allocator, &b, error));
    ksv_status status = filter_memory_init(
        &b->blocks, &b->allocator,
        filter_layout_of(options->plan.blocks).body_bytes, error);
    if (status != KSV_OK) {
        ksv_filter_builder_close(b);
        return status;
    }
    b->data = b->blocks.data;
    large_pages_ask(b->data, b->data_bytes);
    filter_memory_clear(&b->blocks);
    *builder = b;
    return KSV_OK;
}

ksv_status ksv_filter_builder_open_over(const ksv_filter_options *options,
                                        void *memory, size_t memory_bytes,
                                        bool is_filled, uint64_t keys,
                                        const ksv_allocator *allocator,
                                        ksv_filter_builder **builder,
                                        ksv_error *error)
{
    *builder = NULL;
    KSV_TRY(filter_options_check(options, error));
    uint64_t wanted = filter_layout_of(options->plan.blocks).body_bytes;
    if (memory_bytes < wanted)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "the filter takes %llu bytes, %zu are given",
                         (unsigned long long)wanted, memory_bytes);
    KSV_TRY(filter_builder_make(options, allocator, builder, error));
    (*builder)->data = memory;
    if (is_filled)
        filter_count_set(&(*builder)->count, (double)keys);
    else
        memset(memory, 0, (*builder)->data_bytes);
    return KSV_OK;
}

static uint8_t *block_of(const ksv_filter_builder *b, uint64_t truncated)
{
    uint64_t number = bloom_block_number(truncated, b->options.plan.blocks);
    return b->data + number * BLOOM_BLOCK_BYTES;
}

static inline void add_now(ksv_filter_builder *b, uint64_t truncated)
{
    const ksv_filter_plan *plan = &b->options.plan;
    bool is_fresh;
    if (plan->kind == KSV_FILTER_BLOCKED)
        is_fresh = bloom_block_add(block_of(b, truncated), truncated,
                                   plan->hash_functions);
    else
        is_fresh =
            classic_add(b->data, plan->bits, truncated, plan->hash_functions);
    filter_count_add(&b->count, is_fresh);
}

static inline void add_later(ksv_filter_builder *b, uint64_t truncated)
{
    uint64_t *place = &b->pending[b->pending_added++ % PENDING_HASHES];
    if (b->pending_count == PENDING_HASHES)
        add_now(b, *place);
    else
        b->pending_count++;
    *place = truncated;
    if (b->options.plan.kind == KSV_FILTER_BLOCKED)
        MEMORY_PREFETCH(block_of(b, truncated));
    else
        CLASSIC_PREFETCH(b->data, b->options.plan.bits, truncated,
                         b->options.plan.hash_functions);
}

static inline void settle_when_due(ksv_filter_builder *b)
{
    if (b->count.offered >= b->count.due)
        filter_count_settle(&b->count, &b->options.plan, b->options.hash_bits);
}

static void add_pending(ksv_filter_builder *b)
{
    uint64_t first = b->pending_added - b->pending_count;
    for (size_t i = 0; i < b->pending_count; i++)
        add_now(b, b->pending[(first + i) % PENDING_HASHES]);
    b->pending_count = 0;
}

void filter_builder_flush(ksv_filter_builder *b)
{
    add_pending(b);
    filter_count_settle(&b->count, &b->options.plan, b->options.hash_bits);
}

static bool is_pending(const ksv_filter_builder *b, uint64_t truncated)
{
    uint64_t first = b->pending_added - b->pending_count;
    bool found = false;
    for (size_t i = 0; i < b->pending_count; i++)
        found |= b->pending[(first + i) % PENDING_HASHES] == truncated;
    return found;
}

void ksv_filter_builder_add(ksv_filter_builder *builder, uint64_t hash)
{
    add_later(builder, ksv_hash_truncate(hash, builder->options.hash_bits));
    settle_when_due(builder);
}

void ksv_filter_builder_add_batch(ksv_filter_builder *builder,
                                  const uint64_t *hashes, size_t count)
{
    unsigned hash_bits = builder->options.hash_bits;
    for (size_t i = 0; i < count; i++) {
        add_later(builder, ksv_hash_truncate(hashes[i], hash_bits));
        settle_when_due(builder);
    }
    /* Probes need not look at what waits, then. */
    add_pending(builder);
    settle_when_due(builder);
}

static bool is_set(const ksv_filter_builder *b, uint64_t truncated)
{
    const ksv_filter_plan *plan = &b->options.plan;
    if (plan->kind == KSV_FILTER_BLOCKED)
        return bloom_block_may_contain(block_of(b, truncated), truncated,
                                       plan->hash_functions);
    return classic_may_contain(b->data, plan->bits, truncated,
                               plan->hash_functions);
}

bool ksv_filter_builder_may_contain(const ksv_filter_builder *builder,
                                    uint64_t hash)
{
    uint64_t x = ksv_hash_truncate(hash, builder->options.hash_bits);
    return is_set(builder, x) || is_pending(builder, x);
}

/* These two take up to PENDING_HASHES hashes and leave them truncated. */

static void probe_blocked(const ksv_filter_builder *b, uint64_t *hashes,
                          size_t count, bool *may_contain)
{
    const uint8_t *blocks[PENDING_HASHES];
    for (size_t i = 0; i < count; i++) {
        hashes[i] = ksv_hash_truncate(hashes[i], b->options.hash_bits);
        blocks[i] = block_of(b, hashes[i]);
        MEMORY_PREFETCH(blocks[i]);
    }
    b->probe(blocks, hashes, count, b->options.plan.hash_functions,
             may_contain);
}

static void probe_classic(const ksv_filter_builder *b, uint64_t *hashes,
                          size_t count, bool *may_contain)
{
    const ksv_filter_plan *plan = &b->options.plan;
    unsigned functions = plan->hash_functions;
    unsigned ahead = classic_ahead(functions);
    for (size_t i = 0; i < count; i++) {
        hashes[i] = ksv_hash_truncate(hashes[i], b->options.hash_bits);
        CLASSIC_PREFETCH(b->data, plan->bits, hashes[i], ahead);
    }
    for (size_t i = 0; i < count; i++) {
        may_contain[i] =
            classic_may_contain(b->data, plan->bits, hashes[i], ahead);
        if (may_contain[i])
            CLASSIC_PREFETCH(b->data, plan->bits, hashes[i], functions);
    }
    for (size_t i = 0; i < count; i++)
        may_contain[i] =
            may_contain[i] &&
            classic_may_contain(b->data, plan->bits, hashes[i], functions);
}

static void probe_group(const ksv_filter_builder *b, const uint64_t *hashes,
                        size_t count, bool *may_contain)
{
    uint64_t truncated[PENDING_HASHES];
    memcpy(truncated, hashes, count * sizeof hashes[0]);
    if (b->options.plan.kind == KSV_FILTER_BLOCKED)
        probe_blocked(b, truncated, count, may_contain);
    else
        probe_classic(b, truncated, count, may_contain);
    for (size_t i = 0; i < count && b->pending_count > 0; i++)
        may_contain[i] = may_contain[i] || is_pending(b, truncated[i]);
}

void ksv_filter_builder_may_contain_batch(const ksv_filter_builder *builder,
                                          const uint64_t *hashes, size_t count,
                                          bool *may_contain)
{
    for (size_t done = 0; done < count; done += PENDING_HASHES) {
        size_t left = count - done;
        probe_group(builder, hashes + done,
                    left < PENDING_HASHES ? left : PENDING_HASHES,
                    may_contain + done);
    }
}

void ksv_filter_builder_reset(ksv_filter_builder *builder)
{
    memset(builder->data, 0, builder->data_bytes);
    builder->pending_count = 0;
    builder->count = (filter_count){0};
}

void ksv_filter_builder_close(ksv_filter_builder *builder)
{
    if (builder == NULL)
        return;
    ksv_allocator a = builder->allocator;
    filter_memory_release(&builder->blocks, &a);
    memory_free(&a, builder, sizeof *builder);
}
