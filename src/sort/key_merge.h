/* SPDX-License-Identifier: MIT */
/* Several sorted sources of entries of whole keys as one. */
#ifndef KSV_SORT_KEY_MERGE_H
#define KSV_SORT_KEY_MERGE_H

#include "sort/key_chunk.h"
#include "sort/key_run.h"

/* One thread at a time. */
typedef struct key_merge key_merge;

ksv_status key_merge_open(const ksv_allocator *allocator, size_t most_sources,
                          key_merge **out, ksv_error *error);
void key_merge_close(key_merge *merge); /* NULL is allowed */

/* Adds a source: a chunk that is sorted (borrowed), or a run. */
void key_merge_add_chunk(key_merge *merge, const key_chunk *chunk);
ksv_status key_merge_add_run(key_merge *merge, const key_run_file *file,
                             size_t run, size_t buffer_bytes, ksv_error *error);

/* After all sources were added. The next entry by (key, payload), whose key is
 * valid until the next call, or `*end`. */
ksv_status key_merge_next(key_merge *merge, key_entry *entry, bool *end,
                          ksv_error *error);

/* Writes all entries as one more run of a file. */
ksv_status key_merge_write(key_merge *merge, key_run_file *file,
                           ksv_error *error);

#endif
