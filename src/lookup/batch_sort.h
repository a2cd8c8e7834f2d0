/* SPDX-License-Identifier: MIT */
/* Orders the reads of a batch by where they go. */
#ifndef KSV_LOOKUP_BATCH_SORT_H
#define KSV_LOOKUP_BATCH_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Something to be read for a key or a candidate. */
typedef struct batch_item {
    uint64_t place;  /* page number or offset */
    uint32_t owner;  /* number of the key or of the candidate */
    uint32_t source; /* number of the segment or of the file */
} batch_item;

/* Sorts by (source, place), stably, in time proportional to `count`. `spare`
 * has room for `count` items. */
void batch_sort(batch_item *items, batch_item *spare, size_t count);

#endif
