/* SPDX-License-Identifier: MIT */
/* Tell keys that were seen from those that were not; pass on the first record
 * of each key of a stream. */
#ifndef KEYSIEVE_DEDUP_H
#define KEYSIEVE_DEDUP_H

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

/* A key is fresh when it was not passed before, or, with a window, when it was
 * passed a window or more ago; a fresh key is passed by being told fresh.
 *
 * Exact: keys are kept in memory and, beyond a bound, in runs on disk, ordered
 * by hash and merged as they grow in number (O'Neil, Cheng, Gawlick, O'Neil,
 * "The log-structured merge-tree", 1996). A Bloom filter a run says which need
 * not be asked; where it says "maybe", the bytes of the key are compared, so
 * that no collision of hashes drops a key.
 *
 * Approximate: Bloom filters alone (see filter.h). A key that was passed is
 * never fresh; one that was not may be taken for one, at the rate that was
 * asked for. With a window there are generations of filters, of which the
 * oldest is dropped as a whole: a key is kept for the window and up to one
 * slice of it longer, or up to another window while more keys come than were
 * expected.
 *
 * Time: that of the stream is the latest time that came so far. It never goes
 * back, whatever a clock or a late record says: a key whose time is earlier
 * counts as of the time of the stream. One that comes as KSV_DEDUP_TIME_LATEST
 * before any time did is earlier than all times. */
typedef struct ksv_dedup ksv_dedup;

typedef struct ksv_dedup_options {
    bool approximate;
    /* Approximate: distinct keys to expect, in a window if there is one
     * (required), and the rate of false positives (0: 0.001). */
    uint64_t expected_keys;
    double fpr;
    /* Exact: bound on memory, whatever the number of keys; 0: 1 GiB. Less than
     * 16 MiB is taken as that. */
    uint64_t memory_bytes;
    ksv_hash_kind hash; /* 0: that of the state, else KSV_HASH_XXH3 */
    /* How long a key is kept, in milliseconds; 0: for ever. */
    int64_t window_ms;
    unsigned generations; /* that a window is divided into; 0: 8 */
    /* Where the state is kept across runs and crashes; made if need be. NULL:
     * nowhere. */
    const char *state_directory;
    /* Exact, without a state: an existing directory for what does not fit in
     * memory; nothing is left there. NULL: nowhere, more keys are
     * KSV_ERROR_ARGUMENT. */
    const char *spill_directory;
    /* Of ksv_dedup_run(); NULL when only keys are offered. Format, key and time
     * belong to a state: another one is refused. */
    const ksv_format_options *format;
    /* A key specification as in `format->keys`, of the time of a record. NULL:
     * it is when it comes. */
    const char *time_key;
    const ksv_allocator *allocator;     /* or NULL */
    const ksv_file_system *file_system; /* or NULL: the operating system's */
} ksv_dedup_options;

KSV_API void ksv_dedup_options_init(ksv_dedup_options *options);

/* Opens; with a state, takes it up where its last checkpoint was. `*dedup` is
 * released with ksv_dedup_close(). KSV_ERROR_BUSY when another process has the
 * state, KSV_ERROR_MISMATCH when it was made with other options,
 * KSV_ERROR_CORRUPT when it is damaged or something else: nothing of it is
 * changed then. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_dedup_open(
    const ksv_dedup_options *options, ksv_dedup **dedup, ksv_error *error);

/* Instead of a time: that of the clock; the latest so far. */
#define KSV_DEDUP_TIME_NOW INT64_MIN
#define KSV_DEDUP_TIME_LATEST (INT64_MIN + 1)

typedef struct ksv_dedup_key {
    const void *data;
    size_t bytes;
    int64_t time_ms; /* since 1970, or one of the above; not asked for without
                        a window */
} ksv_dedup_key;

/* Tells of each of `count` keys, in their order, whether it is fresh. Many keys
 * at once are faster: searches of memory and disk overlap. One thread at a
 * time. After an error every call fails with it: the caller closes, opens again
 * and offers again what came since the last checkpoint. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_dedup_offer_batch(ksv_dedup *dedup, const ksv_dedup_key *keys, size_t count,
                      bool *fresh, ksv_error *error);
/* The same for one. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_dedup_offer(ksv_dedup *dedup, const void *key, size_t key_bytes,
                int64_t time_ms, bool *fresh, ksv_error *error);

/* Makes the state durable: after it has returned, no key that was passed before
 * is fresh again, whatever happens. Keys passed since are forgotten by a crash,
 * and fresh again: who acts on a key, then makes a checkpoint, acts at least
 * once; who makes the checkpoint first acts at most once. Without a state
 * nothing is done. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_dedup_checkpoint(ksv_dedup *dedup,
                                                         ksv_error *error);

typedef struct ksv_dedup_info {
    uint64_t offered; /* since it was opened */
    uint64_t passed;
    uint64_t
        late; /* offered with a time a window or more before the stream's */
    int64_t stream_time_ms;
    uint64_t memory_bytes; /* now */
    /* Exact: entries and bytes on disk, runs, pages read to compare keys. */
    uint64_t disk_keys;
    uint64_t disk_bytes;
    uint64_t runs;
    uint64_t pages_read;
    uint64_t disk_bytes_written;
    /* Approximate: generations, keys in them, those that all are sized for, and
     * the highest rate of false positives to expect there was. */
    uint64_t generations;
    uint64_t filter_keys;
    uint64_t filter_capacity;
    double fpr;
} ksv_dedup_info;

KSV_API void ksv_dedup_get_info(const ksv_dedup *dedup, ksv_dedup_info *info);

/* Releases all (NULL is allowed); makes no checkpoint. What was spilled without
 * a state is removed. */
KSV_API void ksv_dedup_close(ksv_dedup *dedup);

/* ---- Streams of records ---- */

/* Reads up to `size_bytes` > 0 bytes of a source. `*got_bytes` 0 without
 * `*at_end`: nothing has come for a while; it is asked again, after a
 * checkpoint if one is due. */
typedef ksv_status (*ksv_dedup_read_fn)(void *ctx, void *buffer,
                                        size_t size_bytes, size_t *got_bytes,
                                        bool *at_end, ksv_error *error);

typedef struct ksv_dedup_input {
    const char *name;       /* the path of a regular file, or for messages */
    ksv_dedup_read_fn read; /* NULL: the file at `name` */
    void *ctx;              /* of `read` */
} ksv_dedup_input;

typedef struct ksv_dedup_stream {
    /* Takes what is passed on. All are called by the caller's thread. */
    ksv_status (*write)(void *ctx, const void *data, size_t size_bytes,
                        ksv_error *error);
    /* Hands on what `write` has taken; called before each checkpoint and at the
     * end. NULL: nothing is to be done. */
    ksv_status (*flush)(void *ctx, ksv_error *error);
    /* Asked now and then; false ends the run with KSV_ERROR_CANCELLED, after a
     * checkpoint. NULL: goes on. */
    bool (*goes_on)(void *ctx);
    /* Takes warnings, or NULL. */
    void (*problem)(void *ctx, const ksv_error *problem);
    void *ctx;
    bool strict;                  /* a record without key is KSV_ERROR_DATA */
    bool skip_bad_records;        /* counts and drops them */
    bool ignore_trailing_garbage; /* after the last gzip member */
    /* A checkpoint after so many records or milliseconds; 0: none but at the
     * end. */
    uint64_t checkpoint_records;
    uint64_t checkpoint_ms;
} ksv_dedup_stream;

typedef struct ksv_dedup_report {
    uint64_t records; /* with and without key */
    uint64_t passed;
    uint64_t dropped;
    uint64_t without_key; /* all passed */
    uint64_t bad_records;
    uint64_t without_time; /* with a time key; count as of the stream's time */
    uint64_t bytes_read;   /* uncompressed */
    uint64_t checkpoints;
} ksv_dedup_report;

/* Reads all inputs, plain or gzip, and writes the first record of each key as
 * it stands there, in order; records without key are all written. The header of
 * the first input is written, with its byte order mark; those of others are
 * dropped, or KSV_ERROR_DATA when they differ. An input that ends without a
 * line feed gets one unless it is the last. Blank lines that are no records are
 * dropped. A record is held in memory until its key was read.
 *
 * A time is RFC 3339 ("2026-03-01T12:00:00.5Z"), or a number of seconds,
 * milliseconds or microseconds since 1970, told by its size. One that is
 * missing, cannot be read, or is more than a window ahead of the computer's
 * clock counts as that of the stream; at its beginning, as the first one of
 * those that were read together.
 *
 * After an error `*report` (may be NULL) says how far it came; records before
 * the place of an error in the data have been written. Ends with a checkpoint,
 * also when the data has an error. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_dedup_run(
    ksv_dedup *dedup, const ksv_dedup_input *inputs, size_t input_count,
    const ksv_dedup_stream *stream, ksv_dedup_report *report, ksv_error *error);

#ifdef __cplusplus
}
#endif

#endif
