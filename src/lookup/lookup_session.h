/* SPDX-License-Identifier: MIT */
/* Looks single keys up in a snapshot. */
#ifndef KSV_LOOKUP_LOOKUP_SESSION_H
#define KSV_LOOKUP_LOOKUP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/index.h>

#include "lookup/index_snapshot.h"
#include "scan/record_fetch.h"

/* A place where the record of a key may be. */
typedef struct lookup_candidate {
    size_t segment;
    uint64_t offset;
} lookup_candidate;

/* The working memory of one call. One thread at a time. */
typedef struct lookup_session {
    index_snapshot *snapshot; /* borrowed */
    uint64_t start_ns;        /* of the call */
    bool has_warned;          /* of changed data files */
    record_fetch *fetch;
    lookup_candidate *candidates;
    size_t candidate_count;
    size_t candidate_capacity;
} lookup_session;

ksv_status lookup_session_open(lookup_session *session,
                               index_snapshot *snapshot, ksv_error *error);
void lookup_session_close(lookup_session *session);

/* What to do with the records of a key. */
typedef struct lookup_request {
    ksv_key key;
    size_t key_number;
    bool first_only;
    bool no_data;
    ksv_record_fn visit; /* or NULL: only whether there is one */
    void *ctx;
} lookup_request;

/* Visits the records of a key; `*found` tells how many there are (with
 * `first_only` or without `visit`: whether). Errors in filters and tables come
 * before any record is visited. */
ksv_status lookup_key(lookup_session *session, const lookup_request *request,
                      uint64_t *found, ksv_receipt *receipt, ksv_error *error);

/* Whether the filters say that the key may exist. */
ksv_status lookup_maybe(lookup_session *session, ksv_key key, bool *maybe,
                        ksv_receipt *receipt, ksv_error *error);

#endif
