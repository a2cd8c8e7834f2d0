/* SPDX-License-Identifier: MIT */
/* The file of a run: keys ordered by hash, in pages. Constants and codec. */
#include "dedup/run_format.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "filter/bloom_block.h"
#include "hash/hash.h"

/* Offsets in the header. */
enum {
    HEADER_VERSION = 8,
    HEADER_PAGE_BYTES = 12,
    HEADER_ID = 16,
    HEADER_HASH_KIND = 32,
    HEADER_HASH_KEY = 40,
    HEADER_CHECKSUM = 56
};

/* Offsets in the footer. */
enum {
    FOOTER_ID = 8,
    FOOTER_PAGES = 24,
    FOOTER_ENTRIES = 32,
    FOOTER_BASE_TIME = 40,
    FOOTER_NEWEST_TIME = 48,
    FOOTER_FILTER_BLOCKS = 56,
    FOOTER_FILTER_FUNCTIONS = 64,
    FOOTER_LEVEL = 68,
    FOOTER_TAIL_SUM = 72,
    FOOTER_ZERO = 88,
    FOOTER_CHECKSUM = 136
};

/* Offsets in the head of a page. */
enum {
    PAGE_CHECKSUM = 0,
    PAGE_KIND = 4,
    PAGE_NUMBER = 8,
    PAGE_USED = 16,
    PAGE_COUNT = 20,
    PAGE_RUN = 24
};

uint64_t run_page_offset(const run_info *info, uint64_t page)
{
    return RUN_FIRST_PAGE_OFFSET + page * info->page_bytes;
}

uint64_t run_tail_bytes(const run_info *info)
{
    return info->pages * RUN_FENCE_BYTES +
           info->filter_blocks * BLOOM_BLOCK_BYTES;
}

uint64_t run_file_bytes(const run_info *info)
{
    return run_page_offset(info, info->pages) + run_tail_bytes(info) +
           RUN_FOOTER_BYTES;
}

void run_header_encode(const run_info *info, uint8_t out[RUN_FIRST_PAGE_OFFSET])
{
    memset(out, 0, RUN_FIRST_PAGE_OFFSET);
    memcpy(out, RUN_MAGIC, RUN_MAGIC_BYTES);
    store_u32(out + HEADER_VERSION, RUN_VERSION);
    store_u32(out + HEADER_PAGE_BYTES, info->page_bytes);
    memcpy(out + HEADER_ID, info->id, sizeof info->id);
    store_u32(out + HEADER_HASH_KIND, (uint32_t)info->hasher.kind);
    memcpy(out + HEADER_HASH_KEY, info->hasher.key, sizeof info->hasher.key);
    store_u64(out + HEADER_CHECKSUM, hash_checksum64(out, HEADER_CHECKSUM));
}

void run_footer_encode(const run_info *info, uint8_t out[RUN_FOOTER_BYTES])
{
    memset(out, 0, RUN_FOOTER_BYTES);
    memcpy(out, RUN_END_MAGIC, RUN_MAGIC_BYTES);
    memcpy(out + FOOTER_ID, info->id, sizeof info->id);
    store_u64(out + FOOTER_PAGES, info->pages);
    store_u64(out + FOOTER_ENTRIES, info->entries);
    store_u64(out + FOOTER_BASE_TIME, (uint64_t)info->base_time_ms);
    store_u64(out + FOOTER_NEWEST_TIME, (uint64_t)info->newest_time_ms);
    store_u64(out + FOOTER_FILTER_BLOCKS, info->filter_blocks);
    store_u32(out + FOOTER_FILTER_FUNCTIONS, info->filter_functions);
    store_u32(out + FOOTER_LEVEL, info->level);
    store_u64(out + FOOTER_TAIL_SUM, info->tail_sum[0]);
    store_u64(out + FOOTER_TAIL_SUM + 8, info->tail_sum[1]);
    store_u64(out + FOOTER_CHECKSUM, hash_checksum64(out, FOOTER_CHECKSUM));
}

static ksv_status corrupt_at(ksv_error *error, uint64_t offset,
                             const char *what)
{
    return error_set_at(error, KSV_ERROR_CORRUPT, NULL, offset, "%s", what);
}

static ksv_status header_decode(const uint8_t *header, run_info *info,
                                ksv_error *error)
{
    if (memcmp(header, RUN_MAGIC, RUN_MAGIC_BYTES) != 0)
        return corrupt_at(error, 0, "is not a run of keys");
    uint32_t version = load_u32(header + HEADER_VERSION);
    if (version != RUN_VERSION)
        return error_set(error, KSV_ERROR_VERSION, NULL,
                         "has format version %u; this program knows %d",
                         version, RUN_VERSION);
    if (hash_checksum64(header, HEADER_CHECKSUM) !=
        load_u64(header + HEADER_CHECKSUM))
        return corrupt_at(error, 0, "the header is damaged");
    info->page_bytes = load_u32(header + HEADER_PAGE_BYTES);
    info->hasher.kind = (ksv_hash_kind)load_u32(header + HEADER_HASH_KIND);
    memcpy(info->id, header + HEADER_ID, sizeof info->id);
    memcpy(info->hasher.key, header + HEADER_HASH_KEY, sizeof info->hasher.key);
    bool is_power = (info->page_bytes & (info->page_bytes - 1)) == 0;
    if (!is_power || info->page_bytes < RUN_PAGE_BYTES_MIN ||
        info->page_bytes > RUN_PAGE_BYTES_MAX ||
        (info->hasher.kind != KSV_HASH_XXH3 &&
         info->hasher.kind != KSV_HASH_SIPHASH))
        return corrupt_at(error, 0, "the header is damaged");
    return KSV_OK;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static bool footer_is_sound(const run_info *info, uint64_t file_bytes)
{
    return info->pages <= file_bytes / info->page_bytes &&
           info->filter_blocks <= file_bytes / BLOOM_BLOCK_BYTES &&
           info->entries <= file_bytes &&
           info->filter_functions <= BLOOM_MAX_FUNCTIONS &&
           (info->filter_blocks == 0 || info->filter_functions > 0) &&
           info->base_time_ms <= info->newest_time_ms &&
           run_file_bytes(info) == file_bytes;
}

ksv_status run_ends_decode(const uint8_t header[RUN_FIRST_PAGE_OFFSET],
                           const uint8_t footer[RUN_FOOTER_BYTES],
                           uint64_t file_bytes, run_info *info,
                           ksv_error *error)
{
    uint64_t at = file_bytes - RUN_FOOTER_BYTES;
    *info = (run_info){.page_bytes = 0};
    KSV_TRY(header_decode(header, info, error));
    if (!is_zero(header + RUN_HEADER_BYTES,
                 RUN_FIRST_PAGE_OFFSET - RUN_HEADER_BYTES))
        return corrupt_at(error, RUN_HEADER_BYTES, "the header is damaged");
    if (memcmp(footer, RUN_END_MAGIC, RUN_MAGIC_BYTES) != 0 ||
        memcmp(footer + FOOTER_ID, info->id, sizeof info->id) != 0 ||
        !is_zero(footer + FOOTER_ZERO, FOOTER_CHECKSUM - FOOTER_ZERO) ||
        hash_checksum64(footer, FOOTER_CHECKSUM) !=
            load_u64(footer + FOOTER_CHECKSUM))
        return corrupt_at(error, at, "the footer is damaged");
    info->pages = load_u64(footer + FOOTER_PAGES);
    info->entries = load_u64(footer + FOOTER_ENTRIES);
    info->base_time_ms = (int64_t)load_u64(footer + FOOTER_BASE_TIME);
    info->newest_time_ms = (int64_t)load_u64(footer + FOOTER_NEWEST_TIME);
    info->filter_blocks = load_u64(footer + FOOTER_FILTER_BLOCKS);
    info->filter_functions = load_u32(footer + FOOTER_FILTER_FUNCTIONS);
    info->level = load_u32(footer + FOOTER_LEVEL);
    info->tail_sum[0] = load_u64(footer + FOOTER_TAIL_SUM);
    info->tail_sum[1] = load_u64(footer + FOOTER_TAIL_SUM + 8);
    if (!footer_is_sound(info, file_bytes))
        return corrupt_at(error, at, "the footer is damaged");
    return KSV_OK;
}

static uint32_t page_checksum(const run_info *info, const uint8_t *page)
{
    return hash_checksum32(page + PAGE_KIND, info->page_bytes - PAGE_KIND);
}

void run_page_seal(const run_info *info, const run_page_head *head,
                   uint8_t *page)
{
    size_t end = RUN_PAGE_HEAD_BYTES + head->used_bytes;
    memset(page + end, 0, info->page_bytes - end);
    store_u32(page + PAGE_KIND, (uint32_t)head->kind);
    store_u64(page + PAGE_NUMBER, head->number);
    store_u32(page + PAGE_USED, head->used_bytes);
    store_u32(page + PAGE_COUNT, head->count);
    memcpy(page + PAGE_RUN, info->id, RUN_PAGE_HEAD_BYTES - PAGE_RUN);
    store_u32(page + PAGE_CHECKSUM, page_checksum(info, page));
}

ksv_status run_page_check(const run_info *info, uint64_t number,
                          const uint8_t *page, run_page_head *head,
                          ksv_error *error)
{
    head->kind = (run_page_kind)load_u32(page + PAGE_KIND);
    head->number = load_u64(page + PAGE_NUMBER);
    head->used_bytes = load_u32(page + PAGE_USED);
    head->count = load_u32(page + PAGE_COUNT);
    bool is_whole = load_u32(page + PAGE_CHECKSUM) == page_checksum(info, page);
    if (!is_whole || head->number != number ||
        head->used_bytes > info->page_bytes - RUN_PAGE_HEAD_BYTES ||
        head->kind < RUN_PAGE_KEYS || head->kind > RUN_PAGE_REST ||
        (head->kind == RUN_PAGE_LONG && head->count != 1) ||
        (head->kind == RUN_PAGE_REST &&
         (head->count == 0 || head->count > number)) ||
        memcmp(page + PAGE_RUN, info->id, RUN_PAGE_HEAD_BYTES - PAGE_RUN) != 0)
        return corrupt_at(error, run_page_offset(info, number),
                          "a page of keys is damaged");
    return KSV_OK;
}
