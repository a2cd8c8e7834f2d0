/* SPDX-License-Identifier: MIT */
/* Numbers that put blocks in order, and leave room for others between. */
#ifndef KSV_BTREE_TREE_TIES_H
#define KSV_BTREE_TREE_TIES_H

#include "btree/tree_record.h"

/* Ties above `low` (0: from anywhere) and below `high` (0: without end). */
typedef struct tie_range {
    uint64_t low;
    uint64_t high;
    uint64_t step; /* filled by tie_range_prepare() */
} tie_range;

/* Plans `count` ties, at least 1; false: there is no room for so many. */
static inline bool tie_range_prepare(tie_range *range, uint64_t count)
{
    if (range->low == 0 && range->high == 0) {
        range->low = TREE_TIE_FIRST - TREE_TIE_STEP;
        range->step = TREE_TIE_STEP;
        return true;
    }
    uint64_t high = range->high != 0 ? range->high : UINT64_MAX;
    if (high <= range->low)
        return false;
    uint64_t room = (high - range->low) / (count + 1);
    range->step = room < TREE_TIE_STEP ? room : TREE_TIE_STEP;
    /* Those that come before others lie near them, and so do those between. */
    if (range->low == 0)
        range->low = range->high - range->step * (count + 1);
    else if (range->high != 0)
        range->step = room;
    return room > 0;
}

static inline uint64_t tie_range_next(tie_range *range)
{
    range->low += range->step;
    return range->low;
}

#endif
