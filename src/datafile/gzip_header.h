/* SPDX-License-Identifier: MIT */
/* The header of a gzip member (RFC 1952), parsed from pieces of any size. */
#ifndef KSV_DATAFILE_GZIP_HEADER_H
#define KSV_DATAFILE_GZIP_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GZIP_MAGIC_1 0x1f
#define GZIP_MAGIC_2 0x8b

/* CRC-32 and length of the content, after its last block. */
#define GZIP_TRAILER_BYTES 8

typedef enum gzip_header_state {
    GZIP_HEADER_FIXED,
    GZIP_HEADER_EXTRA_LENGTH,
    GZIP_HEADER_EXTRA,
    GZIP_HEADER_NAME,
    GZIP_HEADER_COMMENT,
    GZIP_HEADER_CHECKSUM,
    GZIP_HEADER_COMPLETE,
    GZIP_HEADER_BAD
} gzip_header_state;

/* Only the members with a comment are for others. */
typedef struct gzip_header {
    gzip_header_state state;
    /* Of a complete header: the whole size of a BGZF block, 0 when the member
     * is none. */
    uint32_t bgzf_block_bytes;
    const char *problem; /* of a bad one: a phrase */
    uint8_t flags;
    uint8_t field[4];     /* bytes of what is being read */
    uint32_t field_bytes; /* how many */
    uint32_t extra_left;
    uint32_t subfield_left;
    bool in_subfield;
    bool is_bgzf_subfield;
    uint16_t given_checksum;
    uint32_t crc;
} gzip_header;

void gzip_header_begin(gzip_header *header);

/* Reads on; the number of bytes used, which is smaller than `size_bytes` only
 * when the header is complete or bad. */
size_t gzip_header_push(gzip_header *header, const uint8_t *data,
                        size_t size_bytes);

#endif
