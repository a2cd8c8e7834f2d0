/* SPDX-License-Identifier: MIT */
/* What a filter in memory takes from one that was read. */
#ifndef KSV_FILTER_FILTER_READER_H
#define KSV_FILTER_FILTER_READER_H

#include <keysieve/filter.h>

#include "filter/filter_memory.h"

/* Moves the blocks of a loaded filter, made with the allocator that will
 * release them; the filter may only be closed afterwards. */
void filter_reader_take_blocks(ksv_filter *filter, filter_memory *blocks);

#endif
