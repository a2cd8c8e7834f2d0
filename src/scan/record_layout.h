/* SPDX-License-Identifier: MIT */
/* What lookups know of a content beside its specification, and how it is
 * stored. */
#ifndef KSV_SCAN_RECORD_LAYOUT_H
#define KSV_SCAN_RECORD_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

#define RECORD_LAYOUT_VERSION 1

/* Offsets and lengths are in bytes of the content. */
typedef struct record_layout {
    uint64_t first_offset;  /* of the first record; 0: there is none */
    uint64_t header_offset; /* 0 without a header */
    uint64_t header_length; /* 0: no header */
    /* csv, tsv: the columns of the parts of the key, from 0, in the order of
     * the parts. None before they are known, and in other formats. */
    uint64_t *columns;
    size_t column_count;
} record_layout;

/* Appends the stored form. */
ksv_status record_layout_encode(const record_layout *layout, byte_buffer *out,
                                ksv_error *error);

/* From untrusted bytes: KSV_ERROR_CORRUPT or KSV_ERROR_VERSION.
 * `layout->columns` has room for `column_capacity` columns (with 0 it may be
 * NULL: the columns are checked and left out). */
ksv_status record_layout_decode(const void *data, size_t size_bytes,
                                size_t column_capacity, record_layout *layout,
                                ksv_error *error);

#endif
