/* SPDX-License-Identifier: MIT */
/* The filter sidecar: constants, layout, and the codec of its small parts. */
#ifndef KSV_FILTER_FILTER_FORMAT_H
#define KSV_FILTER_FILTER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/filter.h>

#define FILTER_MAGIC "KSVFILT\n"
#define FILTER_END_MAGIC "KSVFEND\n"
#define FILTER_MAGIC_BYTES 8
#define FILTER_VERSION 1

/* Bits of the header's features. */
#define FILTER_FEATURE_STANDALONE 1u
#define FILTER_FEATURE_CLASSIC 2u
#define FILTER_FEATURES (FILTER_FEATURE_STANDALONE | FILTER_FEATURE_CLASSIC)

#define FILTER_HEADER_BYTES 128
#define FILTER_FOOTER_BYTES 64
#define FILTER_PAGE_BYTES 4096
#define FILTER_PAGE_BLOCKS 64
#define FILTER_MAX_BLOCKS ((uint64_t)1 << 51)

/* Up to this size the blocks follow the header at once and are read in one go;
 * larger ones begin at a page of the file. */
#define FILTER_SMALL_BODY_BYTES 65536

/* A checksum page: 32 bytes about itself, then one checksum a body page. */
#define FILTER_CHECKSUM_HEAD_BYTES 32
#define FILTER_CHECKSUMS_PER_PAGE 1016

/* Where the parts of a filter file lie. */
typedef struct filter_layout {
    uint64_t body_offset;
    uint64_t body_bytes;
    uint64_t pages; /* of the body; the last one may be short */
    uint64_t checksums_offset;
    uint64_t checksum_pages; /* the last one may be short */
    uint64_t footer_offset;
    uint64_t file_bytes;
} filter_layout;

/* `blocks` is 1..FILTER_MAX_BLOCKS. */
filter_layout filter_layout_of(uint64_t blocks);

/* Size of a page of the body, and of one with checksums. */
size_t filter_page_bytes(const filter_layout *layout, uint64_t page);
size_t filter_checksum_page_bytes(const filter_layout *layout, uint64_t page);

bool filter_hash_bits_valid(unsigned hash_bits);

/* KSV_ERROR_ARGUMENT unless a filter file can have these. */
ksv_status filter_options_check(const ksv_filter_options *options,
                                ksv_error *error);

/* Writes all bytes before the body: body_offset of them. */
void filter_header_encode(const ksv_filter_options *options, uint8_t *out);

/* Decodes the first `size_bytes` bytes (those up to the body, or fewer when the
 * file is shorter) of a file of `file_bytes` bytes. */
ksv_status filter_header_decode(const uint8_t *data, size_t size_bytes,
                                uint64_t file_bytes,
                                ksv_filter_options *options, ksv_error *error);

void filter_footer_encode(const ksv_filter_options *options, uint64_t keys,
                          uint8_t out[FILTER_FOOTER_BYTES]);
/* `options` are those of the header. */
ksv_status filter_footer_decode(const uint8_t data[FILTER_FOOTER_BYTES],
                                const ksv_filter_options *options,
                                uint64_t *keys, ksv_error *error);

/* The checksum of a page of the body: of its bytes, its number and the filter's
 * id. */
uint32_t filter_page_checksum(const uint8_t id[16], uint64_t page,
                              const uint8_t *data, size_t size_bytes);

/* Fills the head of a checksum page whose checksums stand in `page` already. */
void filter_checksum_page_seal(const uint8_t id[16], uint64_t number,
                               uint8_t *page, size_t page_bytes);
/* `offset` is that of the page in its file, for the error. */
ksv_status filter_checksum_page_check(const uint8_t id[16], uint64_t number,
                                      const uint8_t *page, size_t page_bytes,
                                      uint64_t offset, ksv_error *error);

#endif
