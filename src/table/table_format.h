/* SPDX-License-Identifier: MIT */
/* Layout of a table file: header, pages, fence pages, footer. */
#ifndef KSV_TABLE_TABLE_FORMAT_H
#define KSV_TABLE_TABLE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/table.h>

#define TABLE_VERSION 1
#define TABLE_HEADER_BYTES 4096
#define TABLE_PAGE_BYTES 4096
#define TABLE_PAGE_HEADER_BYTES 32
#define TABLE_PAGE_BODY_BITS \
    ((size_t)(TABLE_PAGE_BYTES - TABLE_PAGE_HEADER_BYTES) * 8)
#define TABLE_FENCES_PER_PAGE 1020
#define TABLE_FOOTER_BYTES 128
/* Page numbers have 32 bits. */
#define TABLE_MAX_PAGES UINT32_MAX

#define TABLE_MIN_HASH_BITS 36
#define TABLE_MAX_HASH_BITS 64
#define TABLE_MAX_PAYLOAD_BITS 57

/* What the flags of a page say. A group is all entries with equal top 32 bits
 * of the hash, a run all entries with equal hash. Groups and runs are split
 * between pages only where they fill all of a page. BEFORE: that of the first
 * entry began in a page before; AFTER: that of the last goes on in the next. */
#define TABLE_FLAG_GROUP_BEFORE 1u
#define TABLE_FLAG_GROUP_AFTER 2u
#define TABLE_FLAG_RUN_BEFORE 4u
#define TABLE_FLAG_RUN_AFTER 8u
#define TABLE_FLAGS 15u

/* The top bits of a hash that a fence keeps. */
#define TABLE_FENCE_BITS 32

/* All that header and footer say. */
typedef struct table_meta {
    ksv_table_info info;
    uint64_t fence_pages;
    /* The lowest and the highest hash, truncated; 0 in an empty table. */
    uint64_t first_hash;
    uint64_t last_hash;
    /* Stands in every page: tells pages of this table from others. */
    uint64_t tag;
} table_meta;

/* The form in which pages keep a hash: its top `hash_bits` bits as a number. */
static inline uint64_t table_x_of_hash(uint64_t hash, unsigned hash_bits)
{
    return hash >> (64 - hash_bits);
}

static inline uint64_t table_hash_of_x(uint64_t x, unsigned hash_bits)
{
    return x << (64 - hash_bits);
}

/* What fences keep of it. */
static inline uint32_t table_fence_of_x(uint64_t x, unsigned hash_bits)
{
    return (uint32_t)(x >> (hash_bits - 32));
}

static inline uint64_t table_page_offset(uint64_t page)
{
    return TABLE_HEADER_BYTES + page * TABLE_PAGE_BYTES;
}

/* KSV_ERROR_ARGUMENT when no table can have these options. */
ksv_status table_check_options(const ksv_table_options *options,
                               ksv_error *error);

uint64_t table_tag_of_id(const uint8_t id[16]);
uint64_t table_fence_page_count(uint64_t pages);
/* Size of the whole file. */
uint64_t table_file_bytes(uint64_t pages);

void table_encode_header(const ksv_table_options *options,
                         uint8_t header[TABLE_HEADER_BYTES]);
/* `size_bytes` is smaller than TABLE_HEADER_BYTES only when the file is. A
 * later version is KSV_ERROR_VERSION whatever else the header holds. */
ksv_status table_decode_header(const uint8_t *header, size_t size_bytes,
                               ksv_table_options *options, ksv_error *error);

void table_encode_footer(const table_meta *meta,
                         uint8_t footer[TABLE_FOOTER_BYTES]);
/* `meta->info.options` is what the header says; all else is set, and checked
 * against `file_bytes`, the real size of the file. */
ksv_status table_decode_footer(const uint8_t footer[TABLE_FOOTER_BYTES],
                               uint64_t file_bytes, table_meta *meta,
                               ksv_error *error);

/* Fence page `number` (from 0) with `count` fences. */
void table_encode_fence_page(const uint32_t *fences, size_t count,
                             uint32_t number, uint64_t tag,
                             uint8_t page[TABLE_PAGE_BYTES]);
/* `offset` is that of the page in the file, for the error. */
ksv_status table_decode_fence_page(const uint8_t page[TABLE_PAGE_BYTES],
                                   uint32_t number, uint64_t tag,
                                   uint64_t offset, uint32_t *fences,
                                   size_t count, ksv_error *error);

#endif
