/* SPDX-License-Identifier: MIT */
/* Which segments can have keys in common. */
#ifndef KSV_SEGMENT_KEY_RANGES_H
#define KSV_SEGMENT_KEY_RANGES_H

#include "segment/segment.h"

/* Puts segments into groups, numbered from 0: those of different groups have
 * no key in common, by the first and last keys of their tables. `groups` has
 * room for `count` numbers. Where tables tell nothing of that there is one
 * group. */
ksv_status key_ranges_group(const segment_place *place,
                            const catalog_segment *const *segments,
                            size_t count, size_t *groups, size_t *group_count,
                            ksv_error *error);

#endif
