/* SPDX-License-Identifier: MIT */
/* Which pages of a table can hold a hash: the first hashes of all pages. */
#ifndef KSV_TABLE_FENCE_INDEX_H
#define KSV_TABLE_FENCE_INDEX_H

#include <stdatomic.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "table/table_format.h"

/* Fences by page number. A fence page is read when it is first needed and kept;
 * all functions but init and release are safe to call from many threads. */
typedef struct fence_index {
    ksv_file *file;                 /* borrowed */
    const ksv_allocator *allocator; /* borrowed */
    uint64_t pages;
    uint64_t fence_pages;
    uint64_t tag;
    /* One for each fence page; NULL until it was read. */
    _Atomic(uint32_t *) *loaded;
} fence_index;

ksv_status fence_index_init(fence_index *index, ksv_file *file,
                            const table_meta *meta,
                            const ksv_allocator *allocator, ksv_error *error);
void fence_index_release(fence_index *index);

/* The fence of `page`, which is below `pages`. */
ksv_status fence_index_get(fence_index *index, uint64_t page, uint32_t *fence,
                           ksv_error *error);

/* The pages `*begin`..`*end` - 1 are those whose fence is `fence`, those before
 * `*begin` have lower ones. */
ksv_status fence_index_find(fence_index *index, uint32_t fence, uint64_t *begin,
                            uint64_t *end, ksv_error *error);

#endif
