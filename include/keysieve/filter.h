/* SPDX-License-Identifier: MIT */
/* Bloom filters that stand on their own: blocked ones, and textbook ones. */
#ifndef KEYSIEVE_FILTER_H
#define KEYSIEVE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/hash.h>
#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A blocked Bloom filter (Putze, Sanders, Singler, "Cache-, Hash- and
 * Space-Efficient Bloom Filters", 2007): one probe touches one block of 64
 * bytes. It is sized by the sum over the load of a block (Poisson's, or
 * binomial for few blocks) and by the spread of the bits that are set in it, so
 * the rate that was asked for is the rate that is measured.
 *
 * Hashes are those of ksv_hash(), truncated by ksv_hash_truncate() to
 * `hash_bits`: equal truncated hashes are one key to a filter, which adds
 * keys / 2^hash_bits to its false-positive rate. */

typedef enum ksv_filter_kind {
    /* Blocks of 512 bits: as said above. */
    KSV_FILTER_BLOCKED = 0,
    /* The textbook filter (Bloom, "Space/Time Trade-offs in Hash Coding with
     * Allowable Errors", 1970): any number of bits, each key sets bits all over
     * them by enhanced double hashing (Dillinger and Manolios, 2004). Smaller
     * at one rate by a tenth (1 %) to a third (0.0001 %), and slower: a probe
     * touches up to one cache line a hash function. */
    KSV_FILTER_CLASSIC = 1
} ksv_filter_kind;

/* The shape of a filter. */
typedef struct ksv_filter_plan {
    /* 512 bits each, of which the last one of a textbook filter may be used in
     * part. Memory and blocks in the file take 64 bytes a block. */
    uint64_t blocks;
    unsigned hash_functions;
    /* Size of the blocks alone, and of a file with its checksums and header. */
    uint64_t bits;
    uint64_t file_bytes;
    /* The rate to expect with the keys it was planned for. In a filter file:
     * that to which it may be filled, 0 when there is none. */
    double fpr;
    ksv_filter_kind kind;
} ksv_filter_plan;

/* The smallest filter for `keys` distinct keys (0 is allowed) at false-positive
 * rate `fpr`: never smaller for more keys or a lower rate. Does no work in
 * proportion to `keys`. Where equal hashes alone make up more than three
 * quarters of `fpr`, a quarter is left to the filter, and `plan->fpr` says the
 * rate to expect, which may be higher. KSV_ERROR_ARGUMENT when `fpr` is outside
 * (0, 1), `hash_bits` outside 32..64, or when the filter would pass 2^57 bytes.
 * Thread-safe. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_make_plan(uint64_t keys,
                                                         double fpr,
                                                         unsigned hash_bits,
                                                         ksv_filter_plan *plan,
                                                         ksv_error *error);

/* The rate to expect of a filter of that shape when it holds `keys` keys. */
KSV_API double ksv_filter_expected_fpr(uint64_t blocks, unsigned hash_functions,
                                       uint64_t keys, unsigned hash_bits);

/* A textbook filter of `bits` bits (1..2^60) and `hash_functions` (1..64) for
 * `keys` keys, which only `plan->fpr` depends on. Thread-safe. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_make_classic_plan(
    uint64_t bits, unsigned hash_functions, uint64_t keys,
    ksv_filter_plan *plan, ksv_error *error);

/* The rate to expect of a filter of either kind when it holds `keys` keys. */
KSV_API double ksv_filter_plan_expected_fpr(const ksv_filter_plan *plan,
                                            uint64_t keys, unsigned hash_bits);

/* The most keys with which the rate to expect is at most `fpr`. */
KSV_API uint64_t ksv_filter_plan_capacity(const ksv_filter_plan *plan,
                                          double fpr, unsigned hash_bits);

/* What stands in the file beside the blocks. */
typedef struct ksv_filter_options {
    ksv_filter_plan plan;
    unsigned hash_bits; /* 32..64 */
    ksv_hasher hasher;
    /* Any 16 bytes that tell this filter from others; a reader compares them
     * with those that it expects. */
    uint8_t id[16];
    /* The filter belongs to no index: keys may be added to its file. Saving
     * makes its id from its content. */
    bool is_standalone;
} ksv_filter_options;

/* A standalone filter with all 64 bits of XXH3 with a key of zeros, so that
 * filters made by different processes can be merged; the plan is all zero. */
KSV_API void ksv_filter_options_init(ksv_filter_options *options);

/* Writes a blocked filter while hashes come in ascending order: 64 KiB of
 * blocks in memory and a checksum per 4 KiB. One thread at a time. */
typedef struct ksv_filter_writer ksv_filter_writer;

/* `file` is borrowed, empty and open for appending; it has to outlive the
 * writer. `*writer` is released with ksv_filter_writer_close(). */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_filter_writer_open(ksv_file *file, const ksv_filter_options *options,
                       const ksv_allocator *allocator,
                       ksv_filter_writer **writer, ksv_error *error);
/* `hash` is truncated and not smaller than the one before (else
 * KSV_ERROR_ARGUMENT); an equal one changes nothing. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_writer_add(
    ksv_filter_writer *writer, uint64_t hash, ksv_error *error);
/* Writes what is left, then `*keys` (may be NULL) is the number of distinct
 * hashes added. Does not sync. Nothing may be added afterwards. After a failed
 * write every call fails with its status; the file is of no use. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_writer_finish(
    ksv_filter_writer *writer, uint64_t *keys, ksv_error *error);
/* Frees the writer (NULL is allowed); what was appended stays in the file. */
KSV_API void ksv_filter_writer_close(ksv_filter_writer *writer);

typedef struct ksv_filter_info {
    ksv_filter_options options;
    uint64_t keys;
    uint64_t file_bytes;
} ksv_filter_info;

/* A filter in memory of either kind, to which keys are added in any order.
 * Threads: functions that take it as `const` may run at once in any number of
 * threads, all others need it for themselves. To fill one with many threads
 * give each thread a filter of its own and merge them. */
typedef struct ksv_filter_builder ksv_filter_builder;

/* An empty filter. `*builder` is released with ksv_filter_builder_close(). */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_builder_open(
    const ksv_filter_options *options, const ksv_allocator *allocator,
    ksv_filter_builder **builder, ksv_error *error);
/* The same over `memory` (borrowed until closed) of `memory_bytes` bytes, 64
 * for each block of the plan or more (else KSV_ERROR_ARGUMENT). Probes are
 * fastest when it is aligned to 64 bytes. It is cleared, unless `is_filled`: it
 * holds the blocks of such a filter then, with `keys` keys. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_builder_open_over(
    const ksv_filter_options *options, void *memory, size_t memory_bytes,
    bool is_filled, uint64_t keys, const ksv_allocator *allocator,
    ksv_filter_builder **builder, ksv_error *error);
/* Reads and checks all of a filter file (`file` is borrowed during the call).
 * KSV_ERROR_CORRUPT, KSV_ERROR_VERSION, KSV_ERROR_IO or KSV_ERROR_MEMORY. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_filter_builder_load(ksv_file *file, const ksv_allocator *allocator,
                        ksv_filter_builder **builder, ksv_error *error);
/* The same for the file `path` of a file system (NULL: the operating system's).
 */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_builder_open_file(
    const ksv_file_system *fs, const char *path, const ksv_allocator *allocator,
    ksv_filter_builder **builder, ksv_error *error);

/* `hash` need not be truncated. Cannot fail: of a full filter only the rate
 * rises. */
KSV_API void ksv_filter_builder_add(ksv_filter_builder *builder, uint64_t hash);
KSV_API void ksv_filter_builder_add_batch(ksv_filter_builder *builder,
                                          const uint64_t *hashes, size_t count);
/* Whether `hash` may have been added: false means certainly not. */
KSV_API bool ksv_filter_builder_may_contain(const ksv_filter_builder *builder,
                                            uint64_t hash);
/* The same for `count` hashes at once, faster than one by one: `may_contain`
 * has room for `count` answers. */
KSV_API void
ksv_filter_builder_may_contain_batch(const ksv_filter_builder *builder,
                                     const uint64_t *hashes, size_t count,
                                     bool *may_contain);
/* Empties the filter. */
KSV_API void ksv_filter_builder_reset(ksv_filter_builder *builder);
/* Adds all keys of `other` (not `builder` itself). Both have to be alike in
 * kind, bits, hash functions, hash bits and hasher, else KSV_ERROR_MISMATCH
 * with both in the error's text. The number of keys is then told from the bits
 * that are set. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_builder_merge(
    ksv_filter_builder *builder, ksv_filter_builder *other, ksv_error *error);
/* Makes a blocked filter smaller by a whole `factor` that divides its number of
 * blocks (else KSV_ERROR_ARGUMENT): what one of that size with the same keys
 * and hash functions would be. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_builder_fold(
    ksv_filter_builder *builder, uint64_t factor, ksv_error *error);
/* What it is and holds: `info->keys` is the number of distinct keys as told
 * from the bits that each of them changed; exact to a thousandth and better
 * while the rate is below a tenth, an upper bound for one that is full. */
KSV_API void ksv_filter_builder_get_info(ksv_filter_builder *builder,
                                         ksv_filter_info *info);
/* For a caller who knows the number of distinct keys. */
KSV_API void ksv_filter_builder_set_keys(ksv_filter_builder *builder,
                                         uint64_t keys);
/* The number of bits that are set. */
KSV_API uint64_t ksv_filter_builder_count_bits(ksv_filter_builder *builder);

/* Writes the filter to `file` (borrowed, empty, open for appending); `keys` is
 * the number of distinct keys to record. The bytes are those that a
 * ksv_filter_writer would have written for the same keys. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_filter_builder_write(ksv_filter_builder *builder, uint64_t keys,
                         ksv_file *file, ksv_error *error);
/* Writes the filter, with the number of keys of ksv_filter_builder_get_info(),
 * to the file `path` of a file system (NULL: the operating system's). The file
 * is replaced as a whole: after a crash at any moment it is the old or the new
 * one, and durable when this has returned KSV_OK. `path`.tmp and `path`.lock
 * are used meanwhile; KSV_ERROR_BUSY when another process saves or updates the
 * file at this moment. A process that is killed may leave these two behind;
 * they do no harm. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_filter_builder_save(ksv_filter_builder *builder, const ksv_file_system *fs,
                        const char *path, ksv_error *error);
/* The same for a filter that was opened from that file: what others have added
 * to the file since then is merged first, so that no key of theirs is lost.
 * KSV_ERROR_MISMATCH when the filter is not standalone, or the file now holds
 * one of another shape. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_builder_update(
    ksv_filter_builder *builder, const ksv_file_system *fs, const char *path,
    ksv_error *error);
KSV_API void ksv_filter_builder_close(ksv_filter_builder *builder);

/* An open filter. Safe to share between threads. */
typedef struct ksv_filter ksv_filter;

/* Opens the filter in `file` (borrowed; has to outlive the filter unless
 * ksv_filter_load() has succeeded). Reads and checks header and footer only;
 * pages of blocks are read and checked when they are first probed.
 * KSV_ERROR_CORRUPT, KSV_ERROR_VERSION or KSV_ERROR_IO. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_filter_open(ksv_file *file, const ksv_allocator *allocator,
                ksv_filter **filter, ksv_error *error);
/* Reads and checks all of it at once; `file` is not used any more. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_load(ksv_filter *filter,
                                                    ksv_error *error);
/* `*may_contain` is false only when `hash` (truncated or not) was certainly
 * never added. A page that cannot be read or fails its checksum is an error,
 * never an answer. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_may_contain(ksv_filter *filter,
                                                           uint64_t hash,
                                                           bool *may_contain,
                                                           ksv_error *error);
/* The same for `count` hashes at once, faster than one by one: `may_contain`
 * has room for `count` answers. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_filter_may_contain_batch(ksv_filter *filter, const uint64_t *hashes,
                             size_t count, bool *may_contain, ksv_error *error);
KSV_API void ksv_filter_get_info(const ksv_filter *filter,
                                 ksv_filter_info *info);
KSV_API void ksv_filter_close(ksv_filter *filter);

#ifdef __cplusplus
}
#endif

#endif
