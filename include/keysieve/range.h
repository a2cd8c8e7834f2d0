/* SPDX-License-Identifier: MIT */
/* Keys in the order of their bytes: prefixes, ranges, an iterator. */
#ifndef KEYSIEVE_RANGE_H
#define KEYSIEVE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An index whose organisation is sorted knows its keys in order; with another
 * one what follows is KSV_ERROR_UNSUPPORTED, but for linear scans. Keys
 * are compared as bytes, without a sign; a key comes before all that it is a
 * beginning of. The records of one key are in the order of the files, then of
 * the offsets.
 *
 * All keys of a range may be in any data file: one that is not what was indexed
 * is KSV_ERROR_STALE. It is looked for when a range is begun, and before a
 * record of a file is read. */

/* Which keys are meant: those for which all of this holds. All zero: all. */
typedef struct ksv_range {
    ksv_key prefix; /* the key begins with it */
    ksv_key from; /* the key is this one or comes after it; `data` NULL: any */
    ksv_key to;   /* the key is this one or comes before it; NULL: any */
} ksv_range;

typedef struct ksv_range_options {
    bool reverse;    /* from the last record to the first */
    bool first_only; /* of each key the first record */
    bool no_data;    /* records are verified, but `data` is not filled */
    /* No record is read: of a record only key, file and offset have a meaning,
     * and ksv_record_read() is KSV_ERROR_ARGUMENT. Only of data that is in the
     * order of its keys itself these are read there. */
    bool index_only;
    bool linear_scan; /* read every data file from its start instead */
    uint64_t limit;   /* at most so many records; 0: all */
} ksv_range_options;

/* Visits the records of all keys of `range` in order; `key_number` counts keys
 * from 0. `options` and `receipt` may be NULL; the receipt counts the keys that
 * were found as asked. Returning false from `visit` ends the call with
 * KSV_ERROR_CANCELLED. What was visited before a failure is right. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_get_range(
    ksv_index *index, const ksv_range *range, const ksv_range_options *options,
    ksv_record_fn visit, void *ctx, ksv_receipt *receipt, ksv_error *error);

/* A place between the entries of the keys of a range: before the first at
 * first. Stays in the state that the index had when it was opened. One thread
 * at a time; different iterators of one index do not disturb each other. */
typedef struct ksv_iterator ksv_iterator;

/* An entry: a key, and where a record with it is. Valid until the iterator is
 * used again. */
typedef struct ksv_entry {
    const void *key;
    size_t key_bytes;
    const char *file; /* as given to build */
    uint64_t offset;  /* uncompressed bytes */
} ksv_entry;

/* `range` (NULL: all keys) is copied. `index` has to outlive the iterator. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_iterator_open(ksv_index *index,
                                                      const ksv_range *range,
                                                      ksv_iterator **iterator,
                                                      ksv_error *error);
KSV_API void ksv_iterator_close(ksv_iterator *iterator);

/* Goes over the next entry, or back over the one before, and tells it; `*end`
 * is true, and nothing has happened, when there is none. So ksv_iterator_next()
 * and then ksv_iterator_previous() tell the same entry. Nothing but the index
 * is read. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_iterator_next(ksv_iterator *iterator,
                                                      ksv_entry *entry,
                                                      bool *end,
                                                      ksv_error *error);
KSV_API KSV_CHECK_RESULT ksv_status ksv_iterator_previous(
    ksv_iterator *iterator, ksv_entry *entry, bool *end, ksv_error *error);

/* Goes before the first entry of the range whose key is `key` or comes after
 * it, or behind the last entry of the range. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_iterator_seek(ksv_iterator *iterator,
                                                      const void *key,
                                                      size_t key_bytes,
                                                      ksv_error *error);
KSV_API KSV_CHECK_RESULT ksv_status
ksv_iterator_seek_end(ksv_iterator *iterator, ksv_error *error);

/* Reads the record of the entry that was told last and visits it, without its
 * bytes when `no_data`. KSV_ERROR_ARGUMENT when there is none,
 * KSV_ERROR_CANCELLED when `visit` returns false. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_iterator_read(ksv_iterator *iterator,
                                                      bool no_data,
                                                      ksv_record_fn visit,
                                                      void *ctx,
                                                      ksv_error *error);

/* What all of this has cost so far. */
KSV_API void ksv_iterator_receipt(const ksv_iterator *iterator,
                                  ksv_receipt *receipt);

#ifdef __cplusplus
}
#endif

#endif
