/* SPDX-License-Identifier: MIT */
/* An open table, as finding and iterating see it. */
#ifndef KSV_TABLE_TABLE_READER_H
#define KSV_TABLE_TABLE_READER_H

#include "table/fence_index.h"
#include "table/page.h"

/* Constant after ksv_table_open(), but for what `fences` loads. */
struct ksv_table {
    ksv_allocator allocator;
    ksv_file *file;
    table_meta meta;
    page_context context;
    fence_index fences;
};

#endif
