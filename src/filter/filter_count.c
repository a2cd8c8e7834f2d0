/* SPDX-License-Identifier: MIT */
/* How many different keys a filter was given, told from the filter itself. */
#include "filter/filter_count.h"

/* Looks that take place after so many keys, or this part of those there: the
 * rate hardly changes in between. */
#define LEAST_DUE 64
#define DUE_SHARE 64

/* Above this rate new keys hardly ever show. */
#define BLIND_RATE 0.98

static double count_more(filter_count *count, const ksv_filter_plan *plan,
                         unsigned hash_bits)
{
    double fresh = (double)count->fresh;
    double rate = 0;
    if (count->fresh == count->offered)
        return fresh;
    if (count->fresh > 0 || count->keys > 0) {
        uint64_t middle = (uint64_t)(count->keys + fresh / 2);
        if (count->fresh > 0 || count->due == 0)
            rate = ksv_filter_plan_expected_fpr(plan, middle, hash_bits);
        else
            rate = count->is_blind ? 1 : 0;
        count->is_blind = rate >= BLIND_RATE;
    }
    return count->is_blind ? (double)count->offered : fresh / (1 - rate);
}

void filter_count_settle(filter_count *count, const ksv_filter_plan *plan,
                         unsigned hash_bits)
{
    if (count->offered > 0) {
        double offered = (double)count->offered;
        double more = count_more(count, plan, hash_bits);
        count->keys += more < offered ? more : offered;
    }
    count->offered = 0;
    count->fresh = 0;
    double due = count->keys / DUE_SHARE;
    count->due = due > LEAST_DUE ? (uint64_t)due : LEAST_DUE;
}
