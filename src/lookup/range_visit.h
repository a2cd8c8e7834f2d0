/* SPDX-License-Identifier: MIT */
/* Which of the records of a range are visited. */
#ifndef KSV_LOOKUP_RANGE_VISIT_H
#define KSV_LOOKUP_RANGE_VISIT_H

#include <keysieve/range.h>

typedef struct range_visit {
    ksv_range_options options;
    ksv_record_fn visit;
    void *ctx;
    size_t keys;      /* that were begun */
    uint64_t records; /* that were visited */
} range_visit;

static inline bool range_visit_is_full(const range_visit *visit)
{
    return visit->options.limit > 0 && visit->records >= visit->options.limit;
}

/* Of a key with `count` records in their order, the number of the one that is
 * visited as the `turn`-th; false when there is none. */
static inline bool range_visit_choose(const range_visit *visit, size_t count,
                                      size_t turn, size_t *number)
{
    size_t wanted = visit->options.first_only && count > 0 ? 1 : count;
    if (turn >= wanted || range_visit_is_full(visit))
        return false;
    *number = visit->options.reverse ? wanted - 1 - turn : turn;
    return true;
}

#endif
