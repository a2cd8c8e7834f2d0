/* SPDX-License-Identifier: MIT */
/* Many sorted entries for a table, of which another thread makes the pages. */
#ifndef KSV_TABLE_TABLE_BATCH_H
#define KSV_TABLE_TABLE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/table.h>

#include "table/page_builder.h"

/* What is noticed of the entries of a batch. */
typedef struct batch_runs {
    uint64_t distinct;    /* different hashes */
    uint64_t longest_run; /* entries of one hash */
    uint64_t first_run;   /* of the first one */
    uint64_t last_run;
} batch_runs;

/* Used over and over; for tables of one shape. */
typedef struct table_batch {
    ksv_allocator allocator;
    page_context context;
    const hash_entry *entries; /* borrowed until the pages are made */
    size_t count;
    hash_entry first; /* of the entries */
    hash_entry last;
    page_cut *cuts;
    size_t cut_count;
    size_t cut_capacity;
    /* What waited before, and the first entries behind it: pages that begin in
     * what waited are made from here. */
    hash_entry *joint;
    size_t joint_capacity;
    uint8_t *pages;
    size_t page_capacity;
    batch_runs runs;
} table_batch;

/* To be released in every case. */
void table_batch_init(table_batch *batch, const ksv_allocator *allocator);
void table_batch_release(table_batch *batch);

/* Adds `count` entries (at least 1, borrowed until the pages are made), sorted
 * by (truncated hash, payload) and not below those before, and says which pages
 * they make. Three steps: this one for one batch after the other, the second in
 * any thread, the third for one batch after the other again. No other way to
 * add may be used between the first and the third step. */
ksv_status table_batch_plan(table_batch *batch, ksv_table_writer *writer,
                            const hash_entry *entries, size_t count,
                            ksv_error *error);
/* Afterwards the entries are not needed any more. */
void table_batch_make_pages(table_batch *batch);
ksv_status table_batch_append(const table_batch *batch,
                              ksv_table_writer *writer, ksv_error *error);

#endif
