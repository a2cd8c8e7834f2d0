/* SPDX-License-Identifier: MIT */
/* How many different keys a filter was given, told from the filter itself. */
#ifndef KSV_FILTER_FILTER_COUNT_H
#define KSV_FILTER_FILTER_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/filter.h>

/* A key that changes no bit was there before, or is taken for one that was,
 * which happens at the filter's false-positive rate of that moment: so many are
 * added to those seen to be new. The error is far below a thousandth while the
 * rate is small. Of a filter that says "maybe" to half of all keys every
 * further one is counted as new: the number is an upper bound then. All zero is
 * a start. */
typedef struct filter_count {
    double keys;
    double most;      /* as if all that were offered had been new */
    uint64_t offered; /* and new ones, since `keys` was brought up to date */
    uint64_t fresh;
    uint64_t due; /* when `offered` reaches it, a look is worthwhile */
    bool is_blind;
} filter_count;

void filter_count_set(filter_count *count, double keys);

/* Brings `keys` up to date. */
void filter_count_settle(filter_count *count, const ksv_filter_plan *plan,
                         unsigned hash_bits);

static inline void filter_count_add(filter_count *count, bool is_fresh)
{
    count->offered++;
    count->fresh += is_fresh;
}

#endif
