/* SPDX-License-Identifier: MIT */
/* The file of a run: keys ordered by hash, in pages. Constants and codec. */
#ifndef KSV_DEDUP_RUN_FORMAT_H
#define KSV_DEDUP_RUN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/hash.h>
#include <keysieve/status.h>

#define RUN_MAGIC "KSVRUN1\n"
#define RUN_END_MAGIC "KSVREND\n"
#define RUN_MAGIC_BYTES 8
#define RUN_VERSION 2

#define RUN_HEADER_BYTES 64
/* Zeros follow the header up to here: no page of up to 4 KiB lies in two blocks
 * of a file system. */
#define RUN_FIRST_PAGE_OFFSET 4096
#define RUN_FOOTER_BYTES 144
#define RUN_PAGE_HEAD_BYTES 32
#define RUN_FENCE_BYTES 4
/* Sizes of pages are powers of two. */
/* A read of one is little more than its system call. */
#define RUN_PAGE_BYTES_MIN 1024u
#define RUN_PAGE_BYTES_MAX 1048576u

/* What an entry takes at most beside its key. */
#define RUN_ENTRY_HEAD_MAX (1 + 6 + 8 + 10)
/* A key that takes more as it is stored gets pages of its own. */
#define RUN_SHORT_KEY_MAX(page_bytes) \
    (((page_bytes)-RUN_PAGE_HEAD_BYTES) / 2 - RUN_ENTRY_HEAD_MAX)

typedef enum run_page_kind {
    RUN_PAGE_KEYS = 1, /* whole entries */
    RUN_PAGE_LONG = 2, /* one entry with the beginning of its key */
    RUN_PAGE_REST = 3  /* more bytes of that key */
} run_page_kind;

typedef struct run_page_head {
    run_page_kind kind;
    uint64_t number;
    uint32_t used_bytes; /* behind the head */
    uint32_t count;      /* entries; of a rest: pages back to the long one */
} run_page_head;

/* What stands in header and footer. */
typedef struct run_info {
    uint8_t id[16]; /* of the run; pages carry its first bytes */
    ksv_hasher hasher;
    uint32_t page_bytes;
    uint64_t pages;
    uint64_t entries;
    int64_t base_time_ms;   /* of no entry later */
    int64_t newest_time_ms; /* of no entry earlier */
    uint64_t filter_blocks; /* 0: no filter */
    uint32_t filter_functions;
    uint32_t level;       /* how often its entries were merged */
    uint64_t tail_sum[2]; /* checksum of fences and filter */
} run_info;

/* Header, pages, fences (a page: the top 32 bits of the first hash there, or of
 * that of the key whose rest it is), filter blocks, footer. */
uint64_t run_page_offset(const run_info *info, uint64_t page);
uint64_t run_tail_bytes(const run_info *info);
uint64_t run_file_bytes(const run_info *info);

/* All that is before the pages. */
void run_header_encode(const run_info *info,
                       uint8_t out[RUN_FIRST_PAGE_OFFSET]);
void run_footer_encode(const run_info *info, uint8_t out[RUN_FOOTER_BYTES]);
/* From both ends of a file of `file_bytes` bytes, which every number is checked
 * against. KSV_ERROR_CORRUPT, or KSV_ERROR_VERSION. */
ksv_status run_ends_decode(const uint8_t header[RUN_FIRST_PAGE_OFFSET],
                           const uint8_t footer[RUN_FOOTER_BYTES],
                           uint64_t file_bytes, run_info *info,
                           ksv_error *error);

/* Fills in the head of a page whose entries are there, and clears the rest. */
void run_page_seal(const run_info *info, const run_page_head *head,
                   uint8_t *page);
/* KSV_ERROR_CORRUPT, at the page, unless it is page `number` of the run. */
ksv_status run_page_check(const run_info *info, uint64_t number,
                          const uint8_t *page, run_page_head *head,
                          ksv_error *error);

#endif
