/* SPDX-License-Identifier: MIT */
/* Looks many keys up together: all filters, one wave of pages, one of data. */
#ifndef KSV_LOOKUP_BATCH_LOOKUP_H
#define KSV_LOOKUP_BATCH_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>

#include <keysieve/index.h>

#include "lookup/lookup_session.h"

/* Fewer keys are looked up one by one, more than the most in several batches:
 * enough for pages of a table to serve several keys, few enough for the working
 * memory, some 120 bytes a key, to stay within a few megabytes. */
#define BATCH_KEYS_LEAST 4
#define BATCH_KEYS_MOST 65536
/* Where nothing is read, few enough for the working memory to stay in the
 * processor's cache. */
#define BATCH_KEYS_MAPPED 1024

typedef struct lookup_batch {
    const ksv_key *keys;
    size_t count;
    size_t first_number; /* of the keys, in what `visit` is told */
    bool first_only;
    bool no_data;
    bool filters_only;   /* `found` tells what the filters say */
    ksv_record_fn visit; /* or NULL: `found` is filled */
    void *ctx;
    bool *found;
    ksv_receipt *sum;      /* added to */
    ksv_receipt *receipts; /* one a key, all zero; or NULL */
} lookup_batch;

typedef struct batch_progress {
    size_t answered; /* keys, from the first on */
    bool is_begun;   /* a record of the next one was visited */
    bool is_too_big; /* the keys have very many records: ask for fewer */
} batch_progress;

/* Answers the keys in order. A failure other than KSV_ERROR_MEMORY and
 * KSV_ERROR_CANCELLED may be that of any key: unless `is_begun`, looking up
 * those that are left one by one tells of which. With `is_too_big` none was
 * answered, and there is no failure. */
ksv_status batch_lookup(lookup_session *session, const lookup_batch *batch,
                        batch_progress *progress, ksv_error *error);

#endif
