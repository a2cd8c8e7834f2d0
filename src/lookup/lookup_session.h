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
#include "scan/record_match.h"
#include "segment/organisation.h"

/* A place where the record of a key may be. */
typedef struct lookup_candidate {
    uint64_t offset;
    /* What stands in memory of the record's span, or NULL: it has to be read.
     */
    const uint8_t *bytes;
    uint32_t size_bytes;
    uint32_t file;
    uint32_t segment;
    uint32_t key; /* of a batch */
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
    /* The last answer of lookup_record_source(); all zero at first. */
    record_source source;
    record_match match; /* of the source */
    size_t source_file;
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

/* Adds what one lookup has cost; `sum` may be NULL. */
void lookup_add_receipt(ksv_receipt *sum, const ksv_receipt *one);

static inline void lookup_add_table_cost(ksv_receipt *receipt,
                                         const table_cost *cost)
{
    receipt->table_pages_read += cost->pages;
    receipt->bytes_read += cost->bytes;
    receipt->data_reads += cost->data_reads;
    receipt->files_opened += cost->files_opened;
}

/* Tells once a call of data files that may have more records of a key that was
 * found. */
void lookup_warn_of_changes(lookup_session *session);

/* The steps of lookup_key(), for those who take many keys together. */
uint64_t lookup_hash(const lookup_session *session, ksv_key key);

/* Takes a payload of a table as a candidate of a key, unless it is of data that
 * is gone; false after a failure, which `status` tells then. */
typedef struct candidate_sink {
    lookup_session *session;
    size_t segment;
    uint32_t key;
    ksv_status status;
    ksv_error *error;
} candidate_sink;

bool lookup_take_candidate(void *sink, uint64_t payload);

/* Adds what the table of a segment has of `key` to the candidates, as those of
 * key number `number`. */
ksv_status lookup_ask_table(lookup_session *session, size_t segment,
                            const table_key *key, uint32_t number,
                            ksv_receipt *receipt, ksv_error *error);

/* Puts the candidates of one key into the order of the answer: that of the
 * files, then of the offsets. */
void lookup_sort_candidates(lookup_candidate *candidates, size_t count);

/* Where the records of a data file are fetched from; valid until the next call.
 * The data file is NULL before it was opened. */
const record_source *lookup_record_source(lookup_session *session, size_t file);

/* Lets the candidate's bytes be those of its file in the address space, if it
 * is there. */
bool lookup_find_mapped(const snapshot_file *file, const record_source *source,
                        lookup_candidate *candidate);

/* The candidates of one key, in the order of the answer, whose data files were
 * opened by snapshot_data(). `*found` is added to. */
ksv_status lookup_try_candidates(lookup_session *session,
                                 const lookup_request *request, uint64_t hash,
                                 const lookup_candidate *candidates,
                                 size_t count, uint64_t *found,
                                 ksv_receipt *receipt, ksv_error *error);

/* Whether the filters say that the key may exist. */
ksv_status lookup_maybe(lookup_session *session, ksv_key key, bool *maybe,
                        ksv_receipt *receipt, ksv_error *error);

#endif
