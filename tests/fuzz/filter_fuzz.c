/* SPDX-License-Identifier: MIT */
/* Opens any bytes as a filter and asks it. Checksums that a fuzzer cannot guess
 * are made right first, in half of the runs, so that it gets behind them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <keysieve/filter.h>

#include "base/coding.h"
#include "filter/filter_format.h"
#include "hash/hash.h"
#include "io/memory_file_system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void repair(uint8_t *data, size_t size)
{
    if (size < FILTER_HEADER_BYTES + FILTER_FOOTER_BYTES)
        return;
    store_u64(data + 120, hash_checksum64(data, 120));
    uint8_t *footer = data + size - FILTER_FOOTER_BYTES;
    store_u64(footer + 48, hash_checksum64(footer, 48));
    ksv_filter_options o;
    size_t head = size < FILTER_PAGE_BYTES ? size : FILTER_PAGE_BYTES;
    if (filter_header_decode(data, head, size, &o, NULL) != KSV_OK)
        return;
    filter_layout layout = filter_layout_of(o.plan.blocks);
    for (uint64_t i = 0; i < layout.checksum_pages; i++) {
        uint8_t *page = data + layout.checksums_offset + i * FILTER_PAGE_BYTES;
        size_t page_bytes = filter_checksum_page_bytes(&layout, i);
        store_u32(page, hash_checksum32(page + 4, page_bytes - 4));
    }
}

static void use(ksv_filter *filter, uint64_t seed)
{
    uint64_t hashes[100];
    bool single[100];
    bool batch[100];
    bool failed = false;
    for (size_t i = 0; i < 100; i++) {
        hashes[i] = (seed + i) * UINT64_C(0x9e3779b97f4a7c15);
        failed |= ksv_filter_may_contain(filter, hashes[i], &single[i], NULL) !=
                  KSV_OK;
    }
    ksv_status status =
        ksv_filter_may_contain_batch(filter, hashes, 100, batch, NULL);
    if (failed != (status != KSV_OK))
        abort();
    if (!failed && memcmp(single, batch, sizeof batch) != 0)
        abort();
    ksv_status loaded = ksv_filter_load(filter, NULL);
    if (failed && loaded == KSV_OK)
        abort();
}

/* The same filter read as a whole answers alike; what is done to it ends. */
static void use_in_memory(ksv_filter *filter, ksv_filter_builder *builder,
                          uint64_t seed)
{
    ksv_filter_info info;
    ksv_filter_builder_get_info(builder, &info);
    uint64_t bits = ksv_filter_builder_count_bits(builder);
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t hash = (seed + i) * UINT64_C(0x9e3779b97f4a7c15);
        bool answer;
        if (ksv_filter_may_contain(filter, hash, &answer, NULL) != KSV_OK ||
            answer != ksv_filter_builder_may_contain(builder, hash))
            abort();
    }
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t hash = (seed + i) * UINT64_C(0x9e3779b97f4a7c15);
        ksv_filter_builder_add(builder, hash);
        if (!ksv_filter_builder_may_contain(builder, hash))
            abort();
    }
    if (ksv_filter_builder_count_bits(builder) < bits)
        abort();
    if (info.options.plan.kind == KSV_FILTER_BLOCKED &&
        ksv_filter_builder_fold(builder, info.options.plan.blocks, NULL) !=
            KSV_OK)
        abort();
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t hash = (seed + i) * UINT64_C(0x9e3779b97f4a7c15);
        if (!ksv_filter_builder_may_contain(builder, hash))
            abort();
    }
}

static void open_and_use(const uint8_t *data, size_t size)
{
    ksv_file *file;
    ksv_filter *filter;
    ksv_error error;
    if (memory_file_over(data, size, NULL, &file, NULL) != KSV_OK)
        return;
    if (ksv_filter_open(file, NULL, &filter, &error) == KSV_OK) {
        use(filter, size);
        ksv_filter_builder *builder;
        bool loads =
            ksv_filter_builder_load(file, NULL, &builder, NULL) == KSV_OK;
        if (loads != (ksv_filter_load(filter, NULL) == KSV_OK))
            abort();
        if (loads) {
            use_in_memory(filter, builder, size);
            ksv_filter_builder_close(builder);
        }
        ksv_filter_close(filter);
    }
    if (file->ops->close(file, NULL) != KSV_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_and_use(data, size);
    uint8_t *repaired = malloc(size + 1);
    if (repaired == NULL)
        return 0;
    memcpy(repaired, data, size);
    repair(repaired, size);
    open_and_use(repaired, size);
    free(repaired);
    return 0;
}
