/* SPDX-License-Identifier: MIT */
/* Build an index over data files, and keep it up to date with them. */
#ifndef KEYSIEVE_BUILDER_H
#define KEYSIEVE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/format.h>
#include <keysieve/hash.h>
#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ksv_organisation {
    KSV_ORGANISATION_DEFAULT = 0, /* that of the index, else hash */
    KSV_ORGANISATION_HASH = 1,
    KSV_ORGANISATION_SORTED = 2,
    KSV_ORGANISATION_BTREE = 3
} ksv_organisation;

/* How far a build has come. */
typedef struct ksv_progress {
    const char *file;  /* being read, as given; "" while segments are merged */
    size_t files_done; /* of files_total */
    size_t files_total;
    uint64_t bytes_done; /* of bytes_total, as they lie on disk */
    uint64_t bytes_total;
    uint64_t records;
    uint64_t elapsed_ns;
} ksv_progress;

/* Called a few times a second from a thread of the build, never from two at
 * once. Returning false stops the build with KSV_ERROR_CANCELLED; the index
 * stays as it was, or, when `committed` of the report is true, only segments
 * were not merged any more. */
typedef bool (*ksv_progress_fn)(void *ctx, const ksv_progress *progress);

/* Called for each data file that cannot be indexed (`is_warning` false) and for
 * what deserves a warning. `problem` is borrowed for the call. */
typedef void (*ksv_problem_fn)(void *ctx, const ksv_error *problem,
                               bool is_warning);

typedef struct ksv_build_options {
    /* NULL: as the index has it (an error when there is none). */
    const ksv_format_options *format;
    /* The filter's false-positive rate; 0: that of the index, else 0.005. */
    double fpr;
    /* 0: that of the index, else KSV_HASH_XXH3. */
    ksv_hash_kind hash;
    ksv_organisation organisation;
    /* Bound on working memory; 0: 1 GiB. Less than 32 MiB is taken as that. */
    uint64_t memory_bytes;
    /* 0: one a processor. The files written do not depend on it. */
    unsigned threads;
    bool strict;                  /* a record without key is an error */
    bool unique;                  /* a key seen twice is an error */
    bool skip_bad_records;        /* count and report, not stop */
    bool ignore_trailing_garbage; /* after the last gzip member */
    bool keep_missing;            /* update: vanished files stay */
    bool no_merge;                /* segments stay as they were written */
    /* Of a data file that has grown, all that was there before is read and
     * compared before what is new is indexed. Without it the samples of its
     * fingerprint decide whether it is otherwise as it was: a record that was
     * changed in place between them is found by ksv_verify() with `data`, and
     * by the next build with this. */
    bool compare_grown;
    /* Patterns of data files as the user gave them, kept in the index: files
     * that match now are indexed, files that match later by ksv_update()
     * without files. In a name '*' stands for any bytes, '?' for one, "[a-z]"
     * and "[!a-z]" for one of a set, a backslash takes away such a meaning; a
     * component "**" stands for any directories, at the end for all files in
     * them. Kept relative to the index directory, as paths are. */
    const char *const *watch_patterns;
    size_t watch_pattern_count;
    bool forget_watch_patterns; /* that earlier builds were given */
    /* How long to wait for another build of the index to end, in nanoseconds;
     * 0: not at all. `progress` is called meanwhile and can end it. */
    uint64_t wait_ns;
    /* 16 bytes, or NULL: random ones. The same files, options and seed give the
     * same sidecars, byte for byte. Who knows the seed can choose keys that
     * collide: not for keys that an adversary chooses. Of a new index only. */
    const uint8_t *index_seed;
    ksv_progress_fn progress; /* or NULL */
    void *progress_ctx;
    ksv_problem_fn problem; /* or NULL */
    void *problem_ctx;
    const ksv_allocator *allocator;     /* or NULL */
    const ksv_file_system *file_system; /* or NULL: the operating system's */
} ksv_build_options;

KSV_API void ksv_build_options_init(ksv_build_options *options);

/* A place in a data file; `path` is "" when there is none. */
typedef struct ksv_place {
    char path[4096];
    uint64_t offset;
} ksv_place;

/* What a build did. The counts of records are of the files indexed in this
 * run, the sizes those of the whole index. */
typedef struct ksv_build_report {
    bool committed; /* the index has changed, or was right already */
    size_t files_indexed;
    size_t files_unchanged;
    size_t files_failed;
    size_t files_dropped;
    uint64_t records;
    uint64_t records_without_key;
    ksv_place first_without_key;
    uint64_t bad_records;
    ksv_place first_bad;
    uint64_t distinct_keys;
    uint64_t data_bytes;
    uint64_t elapsed_ns;
    /* Of the whole index. */
    uint64_t index_records;
    uint64_t index_keyed_records;
    uint64_t index_bytes;
    uint64_t table_bytes;
    uint64_t filter_bytes;
    uint64_t filter_keys; /* summed over the filters that lookups ask */
    size_t segments;
} ksv_build_report;

/* Makes the index in `directory`, or extends it: indexes each file of `files`
 * (paths as the user gave them) that is new or has changed, checks and repairs
 * the sidecars of the others. One transaction makes all of it visible at the
 * end; a failure before it leaves the old index whole. When single files fail,
 * the others are committed, each failure is told to `problem`, and the status
 * of the first is returned.
 *
 * Afterwards, unless `no_merge`, segments are merged, so that a lookup asks a
 * number of them that grows with the logarithm of the number of files only; a
 * segment is rewritten when a quarter of its entries is of data that is gone.
 * Each merge is a transaction of its own. A failure in one is returned as well;
 * the index has all that was indexed (`committed` of the report).
 *
 * `report` may be NULL. KSV_ERROR_BUSY when another build runs and does not end
 * in time,
 * KSV_ERROR_MISMATCH when `options` contradict the index. Any number of readers
 * may work during a build. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_build(const char *directory,
                                              const char *const *files,
                                              size_t file_count,
                                              const ksv_build_options *options,
                                              ksv_build_report *report,
                                              ksv_error *error);

/* Brings an index up to date with the files that it holds: changed ones are
 * indexed again, vanished ones dropped, and new ones that match a pattern of
 * the index are added. With `file_count` > 0 only those files (new ones are
 * added). Otherwise as ksv_build(). */
KSV_API KSV_CHECK_RESULT ksv_status ksv_update(const char *directory,
                                               const char *const *files,
                                               size_t file_count,
                                               const ksv_build_options *options,
                                               ksv_build_report *report,
                                               ksv_error *error);

#ifdef __cplusplus
}
#endif

#endif
