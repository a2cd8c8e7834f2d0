/* SPDX-License-Identifier: MIT */
/* A state as the records of an LMDB environment, and back. */
#ifndef KSV_CATALOG_CATALOG_RECORDS_H
#define KSV_CATALOG_CATALOG_RECORDS_H

#include "base/memory.h"
#include "catalog/catalog.h"
#include "catalog/catalog_copy.h"
#include "mdb/lmdb_layout.h"

/* 'F' and the ordinal of a data file, 'P' for the parameters, 'S' and the id of
 * a segment; the numbers big-endian, so that the keys sort as they do. */
#define RECORD_KEY_BYTES 9

typedef struct catalog_record {
    uint8_t key[RECORD_KEY_BYTES];
    size_t key_bytes;
    const uint8_t *value; /* in the buffer of records_get() */
    size_t value_bytes;
} catalog_record;

/* How many records `state` is, and the one at `index` (its value is put into
 * `buffer`, replacing what is there). `body_checksum` is that of copy_encode(),
 * which ties the records to each other. */
size_t records_count(const catalog_state *state);
ksv_status records_get(const catalog_state *state, const catalog_mark *mark,
                       uint64_t body_checksum, size_t index,
                       byte_buffer *buffer, catalog_record *record,
                       ksv_error *error);

/* Whether `state` has a record with that key. */
bool records_has(const catalog_state *state, const uint8_t *key,
                 size_t key_bytes);

/* Collects records into a state. */
typedef struct record_reader {
    catalog_state *state; /* borrowed, empty at the beginning */
    byte_buffer buffer;
    bool has_parameters;
    catalog_mark mark;
    uint64_t file_count;
    uint64_t segment_count;
    uint64_t body_checksum;
} record_reader;

void record_reader_init(record_reader *reader, catalog_state *state);
/* An lmdb_visit_fn whose context is a record_reader: KSV_ERROR_CORRUPT without
 * a path, KSV_ERROR_VERSION. */
ksv_status record_reader_add(void *ctx, const uint8_t *key, size_t key_bytes,
                             const uint8_t *value, size_t value_bytes,
                             ksv_error *error);
/* Whether all records were there and fit together. */
ksv_status record_reader_finish(record_reader *reader, ksv_error *error);
void record_reader_release(record_reader *reader);

/* Reads the records of the commit that `head` names, checking everything, into
 * `state`, which is initialised by this call and to be released after success
 * only. `*body_checksum` tells whether a copy holds the same. */
ksv_status records_read(ksv_file *file, const char *path, const lmdb_head *head,
                        const ksv_allocator *allocator, catalog_state *state,
                        uint64_t *body_checksum, uint64_t *bytes_read,
                        ksv_error *error);

/* What ties a state to the commit that `head` names. */
catalog_mark records_mark(const lmdb_head *head);

#endif
