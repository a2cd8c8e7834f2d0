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
#define RUN_VERSION 1

#define RUN_HEADER_BYTES 64
#define RUN_FOOTER_BYTES 144
#define RUN_PAGE_HEAD_BYTES 32
/* Sizes of pages are powers of two. */
#define RUN_PAGE_BYTES_MIN 4096u
#define RUN_PAGE_BYTES_MAX 1048576u

/* What an entry takes beside its key: hash, time and length. */
#define RUN_ENTRY_HEAD_MAX (8 + 10 + 10)
/* A key that is longer gets pages of its own. */
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

/* Header, pages, fences (a 64-bit hash a page: the first that begins there, or
 * that of the key whose rest it is), filter blocks, footer. */
uint64_t run_page_offset(const run_info *info, uint64_t page);
uint64_t run_tail_bytes(const run_info *info);
uint64_t run_file_bytes(const run_info *info);

void run_header_encode(const run_info *info, uint8_t out[RUN_HEADER_BYTES]);
void run_footer_encode(const run_info *info, uint8_t out[RUN_FOOTER_BYTES]);
/* From both ends of a file of `file_bytes` bytes, which every number is checked
 * against. KSV_ERROR_CORRUPT, or KSV_ERROR_VERSION. */
ksv_status run_ends_decode(const uint8_t header[RUN_HEADER_BYTES],
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

/* An entry as it stands in a page. */
typedef struct run_entry {
    uint64_t hash;
    int64_t time_ms;
    const uint8_t *key; /* the part of it that is in the page */
    uint64_t key_bytes; /* of the whole key */
    size_t here_bytes;  /* of it in the page */
} run_entry;

/* Writes hash, time and length of an entry; returns how many bytes. */
size_t run_entry_head_encode(const run_info *info, const run_entry *entry,
                             uint8_t out[RUN_ENTRY_HEAD_MAX]);

/* Walks over the entries of a page that was checked. */
typedef struct run_page_walk {
    const run_info *info;
    const uint8_t *page;
    const uint8_t *next;
    const uint8_t *end;
    run_page_kind kind;
    uint32_t left;
} run_page_walk;

void run_page_walk_begin(run_page_walk *walk, const run_info *info,
                         const run_page_head *head, const uint8_t *page);
/* Passes over short entries whose hashes are lower, as far as that is easy. */
void run_page_walk_skip(run_page_walk *walk, uint64_t hash);
/* `*any` false: there are no more. */
ksv_status run_page_walk_next(run_page_walk *walk, run_entry *entry, bool *any,
                              ksv_error *error);

#endif
