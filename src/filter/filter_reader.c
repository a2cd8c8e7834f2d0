/* SPDX-License-Identifier: MIT */
/* An open filter: answers from blocks that are read when first needed. */
#include "filter/filter_reader.h"

#include "base/error.h"
#include "base/prefetch.h"
#include "filter/bloom_block.h"
#include "filter/bloom_classic.h"
#include "filter/bloom_probe.h"
#include "filter/filter_pages.h"
#include "io/file.h"

/* Probes that are under way together: enough to hide the latency of memory,
 * few enough for the lines to stay in the first cache. */
#define GROUP_HASHES 32

struct ksv_filter {
    ksv_allocator allocator;
    ksv_filter_info info;
    bloom_probe_fn probe;
    filter_pages pages;
};

static ksv_status read_footer(ksv_file *file, ksv_filter_info *info,
                              ksv_error *error)
{
    uint8_t footer[FILTER_FOOTER_BYTES];
    uint64_t offset = info->file_bytes - sizeof footer;
    KSV_TRY(file_read_exactly(file, offset, footer, sizeof footer, error));
    return filter_footer_decode(footer, &info->options, &info->keys, error);
}

static ksv_status read_info(ksv_file *file, ksv_filter_info *info,
                            ksv_error *error)
{
    ksv_file_info file_info;
    KSV_TRY(file->ops->info(file, &file_info, error));
    info->file_bytes = file_info.size_bytes;
    uint8_t header[FILTER_PAGE_BYTES];
    size_t size_bytes = info->file_bytes < sizeof header
                            ? (size_t)info->file_bytes
                            : sizeof header;
    KSV_TRY(file_read_exactly(file, 0, header, size_bytes, error));
    KSV_TRY(filter_header_decode(header, size_bytes, info->file_bytes,
                                 &info->options, error));
    return read_footer(file, info, error);
}

ksv_status ksv_filter_open(ksv_file *file, const ksv_allocator *allocator,
                           ksv_filter **filter, ksv_error *error)
{
    *filter = NULL;
    ksv_filter_info info;
    KSV_TRY(read_info(file, &info, error));
    ksv_allocator a = allocator_or_default(allocator);
    ksv_filter *f = memory_zalloc(&a, sizeof *f);
    if (f == NULL)
        return error_set_memory(error);
    f->allocator = a;
    f->info = info;
    f->probe = bloom_probe_choose();
    filter_layout layout = filter_layout_of(info.options.plan.blocks);
    ksv_status status = filter_pages_init(&f->pages, file, info.options.id,
                                          &layout, NULL, &f->allocator, error);
    if (status != KSV_OK) {
        memory_free(&a, f, sizeof *f);
        return status;
    }
    *filter = f;
    return KSV_OK;
}

ksv_status ksv_filter_load(ksv_filter *filter, ksv_error *error)
{
    return filter_pages_read_all(&filter->pages, error);
}

/* Block `number`, ready to be read. */
static inline ksv_status need_block(ksv_filter *filter, uint64_t number,
                                    const uint8_t **block, ksv_error *error)
{
    uint64_t page = number / FILTER_PAGE_BLOCKS;
    if (!filter_page_is_ready(&filter->pages, page))
        KSV_TRY(filter_pages_read(&filter->pages, page, error));
    *block = filter->pages.blocks.data + number * BLOOM_BLOCK_BYTES;
    return KSV_OK;
}

/* The block of a truncated hash, ready to be read. */
static inline ksv_status find_block(ksv_filter *filter, uint64_t truncated,
                                    const uint8_t **block, ksv_error *error)
{
    uint64_t number =
        bloom_block_number(truncated, filter->info.options.plan.blocks);
    return need_block(filter, number, block, error);
}

/* By the first `functions` hash functions. */
static ksv_status probe_classic(ksv_filter *filter, uint64_t truncated,
                                unsigned functions, bool *may_contain,
                                ksv_error *error)
{
    uint64_t bits = filter->info.options.plan.bits;
    classic_probes probes = classic_begin(truncated);
    for (unsigned i = 0; i < functions; i++) {
        uint64_t bit = classic_next(&probes, bits);
        unsigned inside = (unsigned)(bit % BLOOM_BLOCK_BITS);
        const uint8_t *block;
        KSV_TRY(need_block(filter, bit / BLOOM_BLOCK_BITS, &block, error));
        if ((block[inside >> 3] >> (inside & 7) & 1) == 0) {
            *may_contain = false;
            return KSV_OK;
        }
    }
    *may_contain = true;
    return KSV_OK;
}

ksv_status ksv_filter_may_contain(ksv_filter *filter, uint64_t hash,
                                  bool *may_contain, ksv_error *error)
{
    const ksv_filter_options *o = &filter->info.options;
    uint64_t truncated = ksv_hash_truncate(hash, o->hash_bits);
    const uint8_t *block;
    if (o->plan.kind == KSV_FILTER_CLASSIC)
        return probe_classic(filter, truncated, o->plan.hash_functions,
                             may_contain, error);
    KSV_TRY(find_block(filter, truncated, &block, error));
    *may_contain =
        bloom_block_may_contain(block, truncated, o->plan.hash_functions);
    return KSV_OK;
}

static ksv_status probe_group(ksv_filter *filter, const uint64_t *hashes,
                              size_t count, bool *may_contain, ksv_error *error)
{
    const ksv_filter_options *o = &filter->info.options;
    uint64_t truncated[GROUP_HASHES];
    const uint8_t *blocks[GROUP_HASHES];
    for (size_t i = 0; i < count; i++) {
        truncated[i] = ksv_hash_truncate(hashes[i], o->hash_bits);
        KSV_TRY(find_block(filter, truncated[i], &blocks[i], error));
        MEMORY_PREFETCH(blocks[i]);
    }
    filter->probe(blocks, truncated, count, o->plan.hash_functions,
                  may_contain);
    return KSV_OK;
}

static ksv_status probe_classic_group(ksv_filter *filter,
                                      const uint64_t *hashes, size_t count,
                                      bool *may_contain, ksv_error *error)
{
    const ksv_filter_options *o = &filter->info.options;
    uint64_t truncated[GROUP_HASHES];
    const uint8_t *data = filter->pages.blocks.data;
    unsigned functions = o->plan.hash_functions;
    unsigned ahead = classic_ahead(functions);
    for (size_t i = 0; i < count; i++) {
        truncated[i] = ksv_hash_truncate(hashes[i], o->hash_bits);
        CLASSIC_PREFETCH(data, o->plan.bits, truncated[i], ahead);
    }
    for (size_t i = 0; i < count; i++) {
        KSV_TRY(
            probe_classic(filter, truncated[i], ahead, &may_contain[i], error));
        if (may_contain[i])
            CLASSIC_PREFETCH(data, o->plan.bits, truncated[i], functions);
    }
    for (size_t i = 0; i < count; i++) {
        if (may_contain[i])
            KSV_TRY(probe_classic(filter, truncated[i], functions,
                                  &may_contain[i], error));
    }
    return KSV_OK;
}

ksv_status ksv_filter_may_contain_batch(ksv_filter *filter,
                                        const uint64_t *hashes, size_t count,
                                        bool *may_contain, ksv_error *error)
{
    bool is_classic = filter->info.options.plan.kind == KSV_FILTER_CLASSIC;
    filter_pages_expect(&filter->pages, count);
    for (size_t done = 0; done < count; done += GROUP_HASHES) {
        size_t left = count - done;
        size_t group = left < GROUP_HASHES ? left : GROUP_HASHES;
        if (is_classic)
            KSV_TRY(probe_classic_group(filter, hashes + done, group,
                                        may_contain + done, error));
        else
            KSV_TRY(probe_group(filter, hashes + done, group,
                                may_contain + done, error));
    }
    return KSV_OK;
}

void ksv_filter_get_info(const ksv_filter *filter, ksv_filter_info *info)
{
    *info = filter->info;
}

void filter_reader_take_blocks(ksv_filter *filter, filter_memory *blocks)
{
    *blocks = filter->pages.blocks;
    filter->pages.blocks = (filter_memory){0};
}

void ksv_filter_close(ksv_filter *filter)
{
    if (filter == NULL)
        return;
    ksv_allocator a = filter->allocator;
    filter_pages_release(&filter->pages, &a);
    memory_free(&a, filter, sizeof *filter);
}
