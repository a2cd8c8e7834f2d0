/* SPDX-License-Identifier: MIT */
/* Sorts a partition that does not fit in memory: sorted runs on disk, merged.
 */
#ifndef KSV_SORT_RUN_MERGER_H
#define KSV_SORT_RUN_MERGER_H

#include "sort/sort_slot.h"

/* One thread at a time. */
typedef struct run_merger run_merger;

/* Writes the spilled partition as sorted runs to `directory`/`name`, with the
 * memory of `slot`, which is the merger's until it is closed. */
ksv_status run_merger_open(sort_slot *slot, size_t partition,
                           const ksv_file_system *fs, const char *directory,
                           const char *name, run_merger **out,
                           ksv_error *error);

/* The next entries in order; `*count` 0: there are no more. They are counted by
 * the slot's counter. */
ksv_status run_merger_next(run_merger *merger, const hash_entry **entries,
                           size_t *count, ksv_error *error);

/* Removes the file. NULL is allowed. */
void run_merger_close(run_merger *merger);

#endif
