/* SPDX-License-Identifier: MIT */
/* Plans of filters that were made before: finding the best one takes longer
 * than filling it when a file is small. */
#ifndef KSV_BUILD_PLAN_MEMO_H
#define KSV_BUILD_PLAN_MEMO_H

#include <keysieve/filter.h>

#include "base/mutex.h"
#include "catalog/catalog.h"

#define PLAN_MEMO_SLOTS 256

typedef struct plan_memo_slot {
    uint64_t keys; /* 0: empty */
    ksv_filter_plan plan;
} plan_memo_slot;

/* Of one rate and one number of hash bits. Safe to share between threads. */
typedef struct plan_memo {
    mutex lock;
    bool has_lock;
    plan_memo_slot slots[PLAN_MEMO_SLOTS];
} plan_memo;

ksv_status plan_memo_init(plan_memo *memo, ksv_error *error);
/* Also of one that is all zero. */
void plan_memo_release(plan_memo *memo);

/* As ksv_filter_make_plan(), for filters of an index. */
ksv_status plan_memo_make(plan_memo *memo, const catalog_parameters *parameters,
                          uint64_t keys, ksv_filter_plan *plan,
                          ksv_error *error);

#endif
