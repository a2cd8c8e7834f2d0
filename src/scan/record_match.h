/* SPDX-License-Identifier: MIT */
/* Tells by its bytes alone that a record has a key, where that is easy. */
#ifndef KSV_SCAN_RECORD_MATCH_H
#define KSV_SCAN_RECORD_MATCH_H

#include "scan/scan_spec.h"
#include "scan/single_record.h"

/* The records of one content; never changed once made. */
typedef struct record_match {
    bool is_usable;
    uint64_t first_offset; /* of the content's records */
    single_shape shape;
} record_match;

/* `layout` is of the scan layer, for this content. A key, a format or a layout
 * for which there is no easy way gives one that matches nothing. */
void record_match_init(record_match *match, const scan_spec *spec,
                       const void *layout, size_t layout_bytes);

/* Whether record_fetch_in() would find a record with this key at `offset`, as
 * far as that is plain to see; `*length` is its length then. `bytes` are those
 * of the record's span: the one before the record comes first. False says
 * nothing. */
bool record_match_key(const record_match *match, uint64_t offset,
                      const uint8_t *bytes, size_t size_bytes, const void *key,
                      size_t key_bytes, uint64_t *length);

#endif
