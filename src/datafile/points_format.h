/* SPDX-License-Identifier: MIT */
/* The layout of the access points sidecar (`.ksz`); see docs/format.md. */
#ifndef KSV_DATAFILE_POINTS_FORMAT_H
#define KSV_DATAFILE_POINTS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POINTS_MAGIC "KSVPNTS\n"
#define POINTS_END_MAGIC "KSVPEND\n"
#define POINTS_MAGIC_BYTES 8
#define POINTS_VERSION 1
#define POINTS_ID_BYTES 16

/* Each chunk of this much content has its own CRC-32, counted from the point
 * that it belongs to: what a read gives out was checked. */
#define POINTS_CHUNK_BYTES 65536u

/* Header, at the start. */
#define POINTS_HEADER_BYTES 64
#define POINTS_HEADER_VERSION 8
#define POINTS_HEADER_KIND 10
#define POINTS_HEADER_FEATURES 12
#define POINTS_HEADER_ID 16
#define POINTS_HEADER_SPACING 32
#define POINTS_HEADER_CHECKSUM 60

/* Pages of entries, in order, somewhere among the blobs: each but the last one
 * has POINTS_PER_PAGE. */
#define POINTS_PAGE_BYTES 4096
#define POINTS_PAGE_CHECKSUM 0
#define POINTS_PAGE_COUNT 4
#define POINTS_PAGE_NUMBER 8
#define POINTS_PAGE_ID 16
#define POINTS_PAGE_ENTRIES 64
#define POINTS_ENTRY_BYTES 64
#define POINTS_PER_PAGE 63

/* The directory: of each page the content offset of its first entry, and where
 * it lies. */
#define POINTS_DIRECTORY_ITEM_BYTES 16

/* Footer, at the end. */
#define POINTS_FOOTER_BYTES 128
#define POINTS_FOOTER_CONTENT_BYTES 8
#define POINTS_FOOTER_DATA_BYTES 16
#define POINTS_FOOTER_FINGERPRINT 24
#define POINTS_FOOTER_POINTS 40
#define POINTS_FOOTER_MEMBERS 48
#define POINTS_FOOTER_PAGES 56
#define POINTS_FOOTER_DIRECTORY_OFFSET 64
#define POINTS_FOOTER_DIRECTORY_CHECKSUM 72
#define POINTS_FOOTER_ID 80
#define POINTS_FOOTER_CHECKSUM 124

/* One access point and the span of content from it to the next. */
typedef struct points_entry {
    uint64_t content;       /* offset of the span */
    uint64_t header_bit;    /* in the data file: the block's header */
    uint64_t symbol_bit;    /* where to go on; header_bit: at the header */
    uint64_t member_offset; /* in the data file: where the member begins */
    uint64_t blob_offset;   /* in this file: window, then chunk CRCs */
    uint64_t data_end;      /* in the data file: where the span's data end */
    uint32_t span_bytes;
    uint32_t first_crc; /* of the first chunk; the others are in the blob */
    uint32_t blob_checksum;
    uint16_t window_bytes;
    uint16_t window_stored_bytes; /* smaller: deflated */
} points_entry;

/* Of a page with so many entries. */
static inline size_t points_page_bytes(size_t entries)
{
    return POINTS_PAGE_ENTRIES + entries * POINTS_ENTRY_BYTES;
}

static inline uint32_t points_entry_chunks(const points_entry *entry)
{
    return entry->span_bytes / POINTS_CHUNK_BYTES +
           (entry->span_bytes % POINTS_CHUNK_BYTES != 0);
}

/* Of an entry with content. */
static inline uint64_t points_entry_blob_bytes(const points_entry *entry)
{
    return entry->window_stored_bytes +
           4 * ((uint64_t)points_entry_chunks(entry) - 1);
}

void points_entry_encode(const points_entry *entry,
                         uint8_t bytes[POINTS_ENTRY_BYTES]);
void points_entry_decode(points_entry *entry,
                         const uint8_t bytes[POINTS_ENTRY_BYTES]);

#endif
