/* SPDX-License-Identifier: MIT */
/* Layout of a sorted table: header, blocks of data and index, footer. */
#ifndef KSV_SORTED_SORTED_FORMAT_H
#define KSV_SORTED_SORTED_FORMAT_H

#include "sorted/sorted_table.h"

#define SORTED_VERSION 1
#define SORTED_HEADER_BYTES 64
#define SORTED_BLOCK_HEADER_BYTES 40
#define SORTED_FOOTER_BYTES 128

#define SORTED_MOST_PAYLOAD_BITS 57
/* Levels of index blocks: each halves the number of blocks at least. */
#define SORTED_MOST_LEVELS 32

/* What the writer aims at, before deflating: measured with keys of 36 bytes,
 * see docs/format.md. */
#define SORTED_BLOCK_BYTES ((size_t)4096)

/* Every so many entries of a block a key is written whole, and where. */
#define SORTED_RESTART_ENTRIES 16

/* Restarts of a block of so many entries, but for the first one, which is at 0;
 * and bytes of each when there are so many bytes of keys before them. */
static inline size_t sorted_restart_count(uint32_t entries)
{
    return entries == 0 ? 0 : (entries - 1) / SORTED_RESTART_ENTRIES;
}

static inline size_t sorted_restart_bytes(size_t keys_bytes)
{
    return keys_bytes <= UINT16_MAX ? 2 : 4;
}

/* Flags of a block. The run of its first key began in the block before, that of
 * its last key goes on in the next one. */
#define SORTED_FLAG_DEFLATED 1u
#define SORTED_FLAG_RUN_BEFORE 2u
#define SORTED_FLAG_RUN_AFTER 4u
#define SORTED_FLAGS 7u

/* Where a block is in the file; blocks of data are counted from 0, and so are
 * those of index. */
typedef struct block_place {
    uint64_t offset;
    uint32_t size_bytes; /* with its header */
    uint32_t number;
} block_place;

/* The header of a block, behind which are: keys and restarts (deflated or not),
 * then the tail: payloads, or the places of what an index block leads to. */
typedef struct block_header {
    uint32_t number;
    uint64_t tag;
    uint32_t stored_bytes; /* behind the header */
    uint32_t raw_bytes;    /* of keys and restarts before deflating */
    uint32_t entries;
    unsigned flags;
    unsigned payload_bits; /* of each payload in the tail; 0 in index blocks */
    unsigned level;        /* 0: data */
    /* Data: what is added to each payload. Index: bytes of the tail. */
    uint64_t base;
} block_header;

/* All that header and footer say. */
typedef struct sorted_meta {
    sorted_info info;
    uint64_t tag;     /* stands in every block: tells it from those of others */
    unsigned levels;  /* of index blocks; the root is of the topmost */
    block_place root; /* unless there are no blocks */
} sorted_meta;

/* KSV_ERROR_ARGUMENT when no table can have these options. */
ksv_status sorted_check_options(const sorted_options *options,
                                ksv_error *error);

uint64_t sorted_tag_of_id(const uint8_t id[16]);

void sorted_encode_header(const sorted_options *options,
                          uint8_t header[SORTED_HEADER_BYTES]);
/* `size_bytes` is smaller than SORTED_HEADER_BYTES only when the file is. A
 * later version is KSV_ERROR_VERSION whatever else the header holds. */
ksv_status sorted_decode_header(const uint8_t *header, size_t size_bytes,
                                sorted_options *options, ksv_error *error);

void sorted_encode_footer(const sorted_meta *meta,
                          uint8_t footer[SORTED_FOOTER_BYTES]);
/* `meta->info.options` is what the header says; all else is set, and checked
 * against `file_bytes`, the real size of the file. */
ksv_status sorted_decode_footer(const uint8_t footer[SORTED_FOOTER_BYTES],
                                uint64_t file_bytes, sorted_meta *meta,
                                ksv_error *error);

/* Writes the header before the `stored_bytes` bytes that are at `block` behind
 * it, with the checksum of all. */
void sorted_encode_block(const block_header *header, uint8_t *block);
/* Checks the whole block of `place`, whose bytes are at `block`. */
ksv_status sorted_decode_block(const uint8_t *block, const block_place *place,
                               uint64_t tag, unsigned level,
                               block_header *header, ksv_error *error);
/* The size of the block that begins with these bytes, which nothing has checked
 * yet, and its level. */
uint64_t sorted_peek_block(const uint8_t header[SORTED_BLOCK_HEADER_BYTES],
                           unsigned *level);

/* KSV_ERROR_CORRUPT about the block. */
ksv_status sorted_set_corrupt(ksv_error *error, const block_place *place,
                              const char *what);

#endif
