/* SPDX-License-Identifier: MIT */
/* A blocked Bloom filter in memory that is filled and probed in batches. */
#include "window/memory_filter.h"

#include <string.h>

#include "base/error.h"
#include "base/prefetch.h"
#include "filter/bloom_probe.h"
#include "filter/filter_geometry.h"
#include "filter/filter_output.h"
#include "filter/filter_pages.h"
#include "io/file.h"
#include "io/large_pages.h"

/* Blocks that are probed together, and groups of them on the way from memory.
 */
enum { PROBE_GROUP = 16, GROUPS_AHEAD = 2, RING = PROBE_GROUP * 4 };

ksv_status memory_filter_init(memory_filter *filter, uint64_t blocks,
                              unsigned functions,
                              const ksv_allocator *allocator, ksv_error *error)
{
    *filter = (memory_filter){.blocks = blocks, .functions = functions};
    uint64_t bytes = blocks * BLOOM_BLOCK_BYTES;
    if (blocks > FILTER_MAX_BLOCKS)
        return error_set_memory(error);
    KSV_TRY(filter_memory_init(&filter->memory, allocator, bytes, error));
    /* It is asked all over. */
    large_pages_ask(filter->memory.data, filter->memory.size_bytes);
    filter_memory_clear(&filter->memory);
    return KSV_OK;
}

void memory_filter_release(memory_filter *filter,
                           const ksv_allocator *allocator)
{
    filter_memory_release(&filter->memory, allocator);
    *filter = (memory_filter){.blocks = 0};
}

void memory_filter_probe(const memory_filter *filter, const uint64_t *hashes,
                         size_t count, bool *may_contain)
{
    if (filter->blocks == 0) {
        memset(may_contain, 1, count * sizeof *may_contain);
        return;
    }
    bloom_probe_fn probe = bloom_probe_choose();
    const uint8_t *ring[RING];
    size_t fetched = 0;
    for (size_t done = 0; done < count; done += PROBE_GROUP) {
        size_t n = count - done < PROBE_GROUP ? count - done : PROBE_GROUP;
        size_t ahead = done + PROBE_GROUP * (GROUPS_AHEAD + 1);
        for (; fetched < ahead && fetched < count; fetched++) {
            const uint8_t *block = memory_filter_block(filter, hashes[fetched]);
            MEMORY_PREFETCH(block);
            ring[fetched % RING] = block;
        }
        probe(ring + done % RING, hashes + done, n, filter->functions,
              may_contain + done);
    }
}

static ksv_filter_options options_of(const memory_filter *filter,
                                     const ksv_hasher *hasher,
                                     const uint8_t id[16])
{
    ksv_filter_options options = {
        .plan = {.blocks = filter->blocks,
                 .hash_functions = filter->functions,
                 .bits = filter->blocks * BLOOM_BLOCK_BITS},
        .hash_bits = 64,
        .hasher = *hasher,
    };
    memcpy(options.id, id, sizeof options.id);
    return options;
}

ksv_status memory_filter_write(const memory_filter *filter,
                               const ksv_hasher *hasher, const uint8_t id[16],
                               uint64_t keys, const ksv_allocator *allocator,
                               ksv_file *file, ksv_error *error)
{
    ksv_filter_options options = options_of(filter, hasher, id);
    filter_output output;
    ksv_status status =
        filter_output_begin(&output, file, &options, allocator, error);
    if (status == KSV_OK)
        status = filter_output_body(&output, filter->memory.data,
                                    filter->memory.size_bytes, error);
    if (status == KSV_OK)
        status = filter_output_finish(&output, keys, error);
    filter_output_release(&output);
    return status;
}

/* Header and footer are whole and say what is expected. */
static ksv_status check_ends(const ksv_filter_options *expected,
                             const filter_layout *layout, ksv_file *file,
                             ksv_error *error)
{
    uint8_t head[FILTER_PAGE_BYTES];
    size_t head_bytes = (size_t)layout->body_offset;
    uint8_t foot[FILTER_FOOTER_BYTES];
    uint64_t keys;
    ksv_file_info info;
    ksv_filter_options options;
    KSV_TRY(file->ops->info(file, &info, error));
    if (head_bytes > sizeof head)
        head_bytes = sizeof head;
    KSV_TRY(file_read_exactly(file, 0, head, head_bytes, error));
    KSV_TRY(filter_header_decode(head, head_bytes, info.size_bytes, &options,
                                 error));
    if (options.plan.blocks != expected->plan.blocks ||
        !filter_same_geometry(&options, expected) ||
        memcmp(options.id, expected->id, sizeof options.id) != 0)
        return error_set(error, KSV_ERROR_CORRUPT, NULL,
                         "is not the filter that belongs here");
    KSV_TRY(file_read_exactly(file, layout->footer_offset, foot, sizeof foot,
                              error));
    return filter_footer_decode(foot, &options, &keys, error);
}

ksv_status memory_filter_read(memory_filter *filter, const ksv_hasher *hasher,
                              const uint8_t id[16],
                              const ksv_allocator *allocator, ksv_file *file,
                              ksv_error *error)
{
    ksv_filter_options options = options_of(filter, hasher, id);
    filter_layout layout = filter_layout_of(filter->blocks);
    KSV_TRY(check_ends(&options, &layout, file, error));
    filter_pages pages;
    KSV_TRY(filter_pages_init(&pages, file, id, &layout, &filter->memory,
                              allocator, error));
    ksv_status status = filter_pages_read_all(&pages, error);
    filter_pages_release(&pages, allocator);
    return status;
}
