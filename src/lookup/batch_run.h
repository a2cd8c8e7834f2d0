/* SPDX-License-Identifier: MIT */
/* The working memory of a batch of keys, as its steps see it. */
#ifndef KSV_LOOKUP_BATCH_RUN_H
#define KSV_LOOKUP_BATCH_RUN_H

#include "lookup/batch_lookup.h"
#include "lookup/batch_sort.h"
#include "lookup/read_wave.h"
#include "table/table_reader.h"

/* What one wave reads at most. */
#define BATCH_WAVE_BYTES ((size_t)1 << 19)
#define BATCH_WAVE_PADDING_BYTES BITS_READ_PADDING_BYTES

/* So much memory is asked for at once, one place after the other without
 * anything between: a place in a page whose translation is not known lets
 * nothing pass by, but those close behind are looked up at the same time. */
#define BATCH_GROUP 32

/* More candidates take more memory than a batch is worth. */
#define BATCH_CANDIDATES_MOST ((size_t)2 * BATCH_KEYS_MOST)

/* In the owner of an item: its table has to be asked for the one key. */
#define BATCH_NEEDS_SEARCH (UINT32_C(1) << 31)

typedef struct batch_run {
    lookup_session *session;   /* borrowed; its candidates are used */
    const lookup_batch *batch; /* borrowed */
    const ksv_allocator *allocator;
    bool shares; /* reads may serve several keys */
    uint64_t *hashes;
    bool *maybe; /* what one filter says */
    batch_item *items;
    size_t item_count;
    size_t item_capacity;
    batch_item *spare;
    size_t spare_capacity;
    /* The candidates by key, in the order of the answer: those of key i begin
     * at starts[i] and end at starts[i + 1]. */
    lookup_candidate *ordered; /* those of the session, or `copies` */
    lookup_candidate *copies;
    size_t copy_capacity;
    uint32_t *starts;
    bool *checked_files; /* of all data files; NULL: none is mapped */
    wave_part *parts;    /* of a wave, one an item */
    size_t part_capacity;
    read_wave wave;
} batch_run;

/* The receipt that what was done for a key is charged to. */
static inline ksv_receipt *batch_receipt(const batch_run *run, size_t key)
{
    return run->batch->receipts != NULL ? &run->batch->receipts[key]
                                        : run->batch->sum;
}

/* Makes room for an item for each key that `maybe` names. */
ksv_status batch_expect_items(batch_run *run, ksv_error *error);

/* Adds an item. */
ksv_status batch_add_item(batch_run *run, uint64_t place, uint32_t owner,
                          uint32_t source, ksv_error *error);

/* Sorts the items from number `from` on. */
ksv_status batch_sort_items(batch_run *run, size_t from, ksv_error *error);

/* One part for each item. */
ksv_status batch_make_parts(batch_run *run, ksv_error *error);

/* What the filter of a segment says of the first `count` hashes, into `maybe`.
 * One that cannot be used says "maybe"; when there is none that was asked,
 * `*has_answered` is false. */
ksv_status batch_ask_filter(batch_run *run, size_t segment, size_t count,
                            bool *has_answered, ksv_receipt *receipt,
                            ksv_error *error);

/* Fills `found` of the batch with what the filters say, and the receipts. */
ksv_status batch_ask_filters_only(batch_run *run, ksv_error *error);

static inline bool batch_is_too_big(const batch_run *run)
{
    return run->session->candidate_count > BATCH_CANDIDATES_MOST;
}

/* Adds what the table of a segment has of one key to the candidates. */
ksv_status batch_ask_table(batch_run *run, size_t segment, uint32_t key,
                           ksv_error *error);

/* The candidates that a mapped table has for the keys of the items from `first`
 * on, by the order of the items. Ends early when there are too many. */
ksv_status batch_search_mapped(batch_run *run, ksv_table *table, size_t segment,
                               size_t first, ksv_error *error);

/* Step 1: all candidates of all keys, by filters and tables. `*too_big` when
 * there are more than BATCH_CANDIDATES_MOST; then it was broken off. */
ksv_status batch_find_candidates(batch_run *run, bool *too_big,
                                 ksv_error *error);

/* Step 2, where files are mapped: opens the data files of all candidates,
 * checks them to be fresh, and finds what is in the address space. */
ksv_status batch_map_data(batch_run *run, ksv_error *error);

/* Step 3: reads what is known of the candidates of the keys from `first` on, of
 * as many keys as fit into one wave: `*end` is behind the last. Data files are
 * opened and checked to be fresh. */
ksv_status batch_read_data(batch_run *run, size_t first, size_t *end,
                           ksv_error *error);

#endif
