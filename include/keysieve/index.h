/* SPDX-License-Identifier: MIT */
/* Open an index and look records up by key. */
#ifndef KEYSIEVE_INDEX_H
#define KEYSIEVE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/builder.h>
#include <keysieve/format.h>
#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open index: a snapshot of what the last build committed. Safe to share
 * between threads; a build that runs meanwhile does not disturb it. */
typedef struct ksv_index ksv_index;

typedef struct ksv_index_options {
    const ksv_allocator *allocator;     /* or NULL */
    const ksv_file_system *file_system; /* or NULL: the operating system's */
    /* Called for warnings (a damaged filter, a touched file, a changed file
     * that an answer was found without); or NULL. May be called by any thread
     * that uses the index, and must not use it. */
    ksv_problem_fn problem;
    void *problem_ctx;
    /* Find tables and uncompressed data in the address space instead of reading
     * them: several times as fast when they are in memory. A file that another
     * process cuts short meanwhile then ends this one with SIGBUS; without this
     * it is an error. Off by default. */
    bool map_files;
    /* For how long a data file that was looked at is believed to stay as it
     * was, in nanoseconds. 0: for one call, so that every call sees all changes
     * made before it. Looking costs a few microseconds a file: for a key that
     * does not exist, times all files. */
    uint64_t trust_ns;
} ksv_index_options;

KSV_API void ksv_index_options_init(ksv_index_options *options);

/* Opens the index in `directory`, which need not be writable. Later calls come
 * back to it: where it is relative, the working directory has to stay.
 * `options` may be NULL. KSV_ERROR_NO_INDEX, KSV_ERROR_CORRUPT or
 * KSV_ERROR_VERSION. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_index_open(const char *directory, const ksv_index_options *options,
               ksv_index **index, ksv_error *error);
KSV_API void ksv_index_close(ksv_index *index);

/* What lookups cost. Every function adds to it, so that one receipt can sum up
 * many calls; set it to zero before the first. */
typedef struct ksv_receipt {
    uint64_t keys;             /* asked */
    uint64_t found;            /* of them, with at least one record */
    uint64_t filter_probes;    /* filters asked */
    uint64_t filter_positives; /* of them, "maybe" */
    /* "Maybe" of a filter for a key that its table or its data does not have.
     */
    uint64_t false_positives;
    uint64_t table_pages_read;
    uint64_t data_reads;
    uint64_t bytes_read; /* of table pages and data */
    uint64_t bytes_inflated;
    uint64_t files_opened; /* sidecars and data files */
    uint64_t elapsed_ns;
} ksv_receipt;

/* A record that was found. Valid during the callback only. */
typedef struct ksv_record {
    const void *key;
    size_t key_bytes;
    const char *file; /* as given to build */
    uint64_t offset;  /* uncompressed bytes */
    uint64_t length;  /* without the terminator */
    /* The record's bytes, or NULL when it was not asked for or is too long to
     * be held in memory: then use ksv_record_read(). */
    const void *data;
    /* For ksv_record_read(). */
    void *source;
} ksv_record;

/* Reads up to `size_bytes` of a record from `position` on; `*got_bytes` is 0 at
 * its end. Only within the callback that was given `record`. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_record_read(const ksv_record *record, uint64_t position, void *buffer,
                size_t size_bytes, size_t *got_bytes, ksv_error *error);

typedef struct ksv_key {
    const void *data;
    size_t bytes;
} ksv_key;

/* Called for the records of each key in the order of the keys, for one key in
 * the order of the files and then of the offsets; once with `record` NULL for a
 * key that has none. `key_number` counts within the call. Returning false ends
 * the call with KSV_ERROR_CANCELLED. */
typedef bool (*ksv_record_fn)(void *ctx, size_t key_number,
                              const ksv_record *record);

typedef struct ksv_lookup_options {
    bool first_only; /* at most one record a key */
    bool no_data;    /* records are verified, but `data` is not filled */
    /* Read every data file from its start instead: the linear baseline. */
    bool linear_scan;
} ksv_lookup_options;

/* Looks `key_count` keys up. `options` and `receipt` may be NULL.
 *
 * Many keys in one call are much faster than as many calls: their reads are
 * sorted, joined where they lie near to one another, and done at once. Then a
 * page that serves several keys, or a read that takes several records, counts
 * once in `receipt`. With `receipts` (NULL, or room for `key_count`) nothing is
 * shared between keys, so that each is filled for its key on its own; the time
 * of a batch is spread evenly over its keys.
 *
 * An empty key is never found. "Not found" is told only when it is certain: a
 * data file that changed and might hold the key is KSV_ERROR_STALE, a damaged
 * table KSV_ERROR_CORRUPT. The keys before the failing one have been answered.
 * Where a key was found, a changed file that might hold more of it is told to
 * the `problem` of the index, once.
 *
 * Every change of a data file that was made before the call is seen by it,
 * unless `trust_ns` says that it need not be; to that end a call asks the file
 * system about the files that its answers depend on, and again after a second.
 */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_get(ksv_index *index, const ksv_key *keys, size_t key_count,
        const ksv_lookup_options *options, ksv_record_fn visit, void *ctx,
        ksv_receipt *receipt, ksv_receipt *receipts, ksv_error *error);

/* Copies the first record of one key into `buffer`. `*found` tells whether
 * there is one; `*length` is its length, of which no more than `capacity_bytes`
 * are copied. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_get_first(ksv_index *index, const void *key, size_t key_bytes, void *buffer,
              size_t capacity_bytes, uint64_t *length, bool *found,
              ksv_receipt *receipt, ksv_error *error);

/* Whether keys exist: `found` has room for `key_count` answers. With
 * `filters_only` the data is not read and true means "maybe". */
KSV_API KSV_CHECK_RESULT ksv_status ksv_has(
    ksv_index *index, const ksv_key *keys, size_t key_count, bool filters_only,
    bool *found, ksv_receipt *receipt, ksv_receipt *receipts, ksv_error *error);

/* Every record that has a key, file by file in order of offset, by reading the
 * data (`data` of the records is NULL). Files that changed are KSV_ERROR_STALE.
 * `key_number` counts the records. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_index_keys(ksv_index *index,
                                                   ksv_record_fn visit,
                                                   void *ctx, ksv_error *error);

/* Copies the header line of the first data file (csv, tsv with a header),
 * without its terminator. `*length` is 0 when there is none; no more than
 * `capacity_bytes` are copied. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_index_header(ksv_index *index,
                                                     void *buffer,
                                                     size_t capacity_bytes,
                                                     uint64_t *length,
                                                     ksv_error *error);

typedef enum ksv_file_state {
    KSV_STATE_OK = 0,
    KSV_STATE_STALE = 1,
    KSV_STATE_MISSING = 2
} ksv_file_state;

typedef struct ksv_index_file {
    const char *file; /* as given to build */
    uint64_t bytes;   /* on disk */
    uint64_t records; /* those without key included */
    uint64_t records_without_key;
    uint64_t bad_records;
    ksv_file_state state;
} ksv_index_file;

/* Segments are merged in tiers: 16 of one into one of the next. */
#define KSV_INFO_TIERS 8

typedef struct ksv_index_info {
    uint64_t generation;
    uint64_t records; /* those without key included */
    uint64_t records_without_key;
    uint64_t bad_records;
    uint64_t distinct_keys;
    ksv_format format;
    const char *key; /* the key specification as text */
    ksv_organisation organisation;
    ksv_hash_kind hash;
    unsigned hash_bits;
    double fpr;
    uint64_t data_bytes;
    uint64_t index_bytes; /* all files of the index */
    uint64_t table_bytes;
    uint64_t filter_bytes;
    uint64_t filter_bits; /* of the blocks alone */
    uint64_t filter_keys; /* summed over the filters that lookups ask */
    /* Of filters that files have beside those. */
    uint64_t file_filter_bytes;
    uint64_t segments;
    uint64_t tier_segments[KSV_INFO_TIERS]; /* the last one: and above, and
                                               those that are never merged */
    uint64_t dead_records; /* in the tables, of data that is gone */
    size_t file_count;
    const ksv_index_file *files; /* file_count, in order */
} ksv_index_info;

/* Calls `visit` with each pattern whose matches an update takes in, as it was
 * given to a build. Returning false ends that. */
typedef bool (*ksv_pattern_fn)(void *ctx, const char *pattern);
KSV_API KSV_CHECK_RESULT ksv_status ksv_index_watch_patterns(
    ksv_index *index, ksv_pattern_fn visit, void *ctx, ksv_error *error);

/* The format and the organisation of an index: nothing but its catalog is
 * looked at, so that this costs nothing, and cannot fail. Thread-safe. */
KSV_API ksv_format ksv_index_format(ksv_index *index);
KSV_API ksv_organisation ksv_index_organisation(ksv_index *index);

/* Fills `*info`; what it points to lives as long as the index. Asks the file
 * system for the state of every data file. One thread at a time. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_index_get_info(ksv_index *index,
                                                       ksv_index_info *info,
                                                       ksv_error *error);

#ifdef __cplusplus
}
#endif

#endif
