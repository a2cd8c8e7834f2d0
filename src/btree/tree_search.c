/* SPDX-License-Identifier: MIT */
/* Which of the blocks with equal beginnings of keys covers an entry. */
#include "btree/tree_search.h"

#include "base/error.h"

ksv_status tree_search(const tree_bound *bound, tree_seek_fn seek, void *ctx,
                       bool *found, ksv_error *error)
{
    /* The last record that can be the right one, which mostly it is. After
     * that, ties are tried by halves; a tie of 0 is never given. */
    uint64_t low = 0;
    uint64_t high = UINT64_MAX;
    uint64_t tried = UINT64_MAX;
    *found = true;
    while (low < high) {
        const tree_block *block = NULL;
        uint64_t tie = 0;
        tree_record_key key = tree_record_block(bound->key, tried);
        KSV_TRY(seek(ctx, &key, &block, &tie, error));
        if (block != NULL && tree_block_covers(block, bound))
            return KSV_OK;
        if (block == NULL || tree_bound_compare(&block->low, bound) <= 0) {
            if (tried == UINT64_MAX)
                break;
            low = tried + 1;
        } else {
            high = tie < tried ? tie : tried;
        }
        tried = low + (high - low) / 2;
    }
    *found = false;
    return KSV_OK;
}
