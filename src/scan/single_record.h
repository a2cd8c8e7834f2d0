/* SPDX-License-Identifier: MIT */
/* The end and the key of a single record of fields, by masks. */
#ifndef KSV_SCAN_SINGLE_RECORD_H
#define KSV_SCAN_SINGLE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/structure.h"

/* Records whose key is one field of them. */
typedef struct single_shape {
    const structure_kernels *kernels;
    uint64_t column; /* of the key, from 0 */
    uint8_t end_byte;
    uint8_t delimiter; /* the end byte where a record is one field */
    uint8_t quote;
    bool has_quote;
    bool drops_cr; /* one CR before the end byte belongs to the terminator */
} single_shape;

/* Positions count from the first byte of the record. */
typedef struct single_record {
    size_t end;    /* of the end byte */
    size_t length; /* without the terminator */
    size_t key_start;
    size_t key_end; /* as key_start when there is no key */
} single_record;

/* The record that begins at `data`, if it is not empty, not long, ends within
 * `size` bytes, and its key is plain to see; false: whoever reads records with
 * care has to tell. */
bool single_record_find(const single_shape *shape, const uint8_t *data,
                        size_t size, single_record *record);

#endif
