/* SPDX-License-Identifier: MIT */
/* How many different keys a filter was given, told from the filter itself. */
#include "filter/filter_count.h"

/* Looks that take place after so many keys, or this part of those there: the
 * rate hardly changes in between. */
#define LEAST_DUE 64
#define DUE_SHARE 64

/* From this rate on new keys show too seldom. */
#define BLIND_RATE 0.5

void filter_count_set(filter_count *count, double keys)
{
    *count = (filter_count){.keys = keys, .most = keys};
}

static double count_more(filter_count *count, const ksv_filter_plan *plan,
                         unsigned hash_bits)
{
    double fresh = (double)count->fresh;
    double rate = 0;
    if (count->fresh > 0 || count->due == 0) {
        uint64_t middle = (uint64_t)(count->keys + fresh / 2);
        rate = ksv_filter_plan_expected_fpr(plan, middle, hash_bits);
        count->is_blind |= rate >= BLIND_RATE;
    }
    return count->is_blind ? (double)count->offered : fresh / (1 - rate);
}

void filter_count_settle(filter_count *count, const ksv_filter_plan *plan,
                         unsigned hash_bits)
{
    if (count->offered > 0) {
        count->most += (double)count->offered;
        count->keys += count_more(count, plan, hash_bits);
        if (count->keys > count->most)
            count->keys = count->most;
    }
    count->offered = 0;
    count->fresh = 0;
    double due = count->keys / DUE_SHARE;
    count->due = due > LEAST_DUE ? (uint64_t)due : LEAST_DUE;
}
