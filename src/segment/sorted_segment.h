/* SPDX-License-Identifier: MIT */
/* Writes the sidecars of a segment from entries in the order of their keys. */
#ifndef KSV_SEGMENT_SORTED_SEGMENT_H
#define KSV_SEGMENT_SORTED_SEGMENT_H

#include "base/thread_pool.h"
#include "segment/segment_writer.h"
#include "sorted/sorted_writer.h"

/* The next entry; the key is valid until the next call. */
typedef ksv_status (*sorted_source_fn)(void *ctx, sorted_key *key,
                                       uint64_t *payload, bool *end,
                                       ksv_error *error);

typedef struct sorted_source {
    sorted_source_fn next;
    void *ctx;
    thread_pool *pool; /* that deflates, or NULL */
    unsigned threads;
    bool is_sparse; /* what it gives are first keys of spans */
} sorted_source;

/* Writes the table of what `source` gives in order. `segment` has its id and
 * payload bits; its sizes and counts are filled in, the file becomes a member
 * of `*files`. */
ksv_status sorted_segment_write(const segment_place *place,
                                const sorted_source *source,
                                catalog_segment *segment, segment_files *files,
                                uint64_t *distinct_keys, ksv_error *error);

#endif
