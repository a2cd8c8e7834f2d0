/* SPDX-License-Identifier: MIT */
/* Plans of filters that were made before. */
#include "build/plan_memo.h"

#include <string.h>

#include "base/error.h"

ksv_status plan_memo_init(plan_memo *memo, ksv_error *error)
{
    memset(memo, 0, sizeof *memo);
    KSV_TRY(mutex_init(&memo->lock, error));
    memo->has_lock = true;
    return KSV_OK;
}

void plan_memo_release(plan_memo *memo)
{
    if (memo->has_lock)
        mutex_release(&memo->lock);
    memo->has_lock = false;
}

static bool recall(plan_memo *memo, uint64_t keys, ksv_filter_plan *plan)
{
    const plan_memo_slot *slot = &memo->slots[keys % PLAN_MEMO_SLOTS];
    mutex_lock(&memo->lock);
    bool is_known = slot->keys == keys && keys > 0;
    if (is_known)
        *plan = slot->plan;
    mutex_unlock(&memo->lock);
    return is_known;
}

static void remember(plan_memo *memo, uint64_t keys,
                     const ksv_filter_plan *plan)
{
    mutex_lock(&memo->lock);
    memo->slots[keys % PLAN_MEMO_SLOTS] = (plan_memo_slot){keys, *plan};
    mutex_unlock(&memo->lock);
}

ksv_status plan_memo_make(plan_memo *memo, const catalog_parameters *parameters,
                          uint64_t keys, ksv_filter_plan *plan,
                          ksv_error *error)
{
    if (recall(memo, keys, plan))
        return KSV_OK;
    KSV_TRY(ksv_filter_make_plan(keys, parameters->fpr, parameters->hash_bits,
                                 plan, error));
    remember(memo, keys, plan);
    return KSV_OK;
}
