/* SPDX-License-Identifier: MIT */
/* Sorted entries into a table and a filter at once, by the threads that sort
 * them. */
#ifndef KSV_SEGMENT_SEGMENT_PIPELINE_H
#define KSV_SEGMENT_SEGMENT_PIPELINE_H

#include <stdbool.h>

#include "filter/filter_writer.h"
#include "sort/entry_sorter.h"
#include "table/table_writer.h"

/* Where the entries go. Borrowed members. */
typedef struct segment_target {
    const ksv_allocator *allocator;
    ksv_table_writer *table;
    ksv_filter_writer *filter;
    const ksv_filter_options *filter_options;
} segment_target;

/* Writes all entries of `sorter`, which is finished; neither writer is finished
 * by it. `*has_filter` is false when the filter was given up, because it is far
 * too large for what it holds. What is written depends on nothing but the
 * entries. */
ksv_status segment_pipeline_run(const segment_target *target,
                                entry_sorter *sorter, bool *has_filter,
                                ksv_error *error);

#endif
