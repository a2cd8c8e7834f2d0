/* SPDX-License-Identifier: MIT */
/* Pieces of the content of a data file that is known -> its records from a
 * place on, and the content hash of it all. */
#ifndef KSV_BUILD_RECORD_FEED_H
#define KSV_BUILD_RECORD_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/catalog.h"
#include "datafile/content_hash.h"
#include "scan/record_reader.h"

/* Takes records in order; an error ends the reading. */
typedef ksv_status (*record_feed_fn)(void *ctx, const scan_record *records,
                                     size_t count, ksv_error *error);

/* The caller sets the borrowed members; one thread at a time. */
typedef struct record_feed {
    const ksv_allocator *allocator;
    uint64_t offset; /* where a record begins: the first one that is given */
    record_feed_fn take;
    void *ctx;
    content_hash *hash;   /* or NULL */
    uint64_t hash_offset; /* where it goes on */
    content_hash *old;    /* or NULL; the same, up to `old_end` */
    uint64_t old_end;
    record_reader *reader; /* its own */
} record_feed;

/* `before` is what is known of the file. On failure nothing stays. */
ksv_status record_feed_open(record_feed *feed, const scan_spec *spec,
                            const catalog_file *before, ksv_error *error);
void record_feed_close(record_feed *feed);

/* The content from `offset` on, which continues the piece before; the first
 * piece begins no later than the records and the hash. */
ksv_status record_feed_piece(record_feed *feed, uint64_t offset,
                             const uint8_t *data, size_t size_bytes,
                             bool is_last, ksv_error *error);

#endif
