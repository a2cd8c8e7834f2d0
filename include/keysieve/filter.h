/* SPDX-License-Identifier: MIT */
/* A Bloom filter of 512-bit blocks that stands on its own. */
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

/* The shape of a filter. */
typedef struct ksv_filter_plan {
    uint64_t blocks;
    unsigned hash_functions;
    /* Size of the blocks alone, and of a file with its checksums and header. */
    uint64_t bits;
    uint64_t file_bytes;
    /* The rate to expect with the keys it was planned for. */
    double fpr;
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

/* What stands in the file beside the blocks. */
typedef struct ksv_filter_options {
    ksv_filter_plan plan;
    unsigned hash_bits; /* 32..64 */
    ksv_hasher hasher;
    /* Any 16 bytes that tell this filter from others; a reader compares them
     * with those that it expects. */
    uint8_t id[16];
} ksv_filter_options;

/* Writes a filter while hashes come in ascending order: 64 KiB of blocks in
 * memory and a checksum per 4 KiB. One thread at a time. */
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

/* A filter being filled in memory, in any order. One thread at a time. */
typedef struct ksv_filter_builder ksv_filter_builder;

KSV_API KSV_CHECK_RESULT ksv_status ksv_filter_builder_open(
    const ksv_filter_options *options, const ksv_allocator *allocator,
    ksv_filter_builder **builder, ksv_error *error);
/* `hash` need not be truncated. Cannot fail. */
KSV_API void ksv_filter_builder_add(ksv_filter_builder *builder, uint64_t hash);
/* Whether `hash` may have been added: false means certainly not. */
KSV_API bool ksv_filter_builder_may_contain(const ksv_filter_builder *builder,
                                            uint64_t hash);
/* Writes the filter to `file` (borrowed, empty, open for appending); `keys` is
 * the number of distinct keys to record. The bytes are those that a
 * ksv_filter_writer would have written for the same keys. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_filter_builder_write(const ksv_filter_builder *builder, uint64_t keys,
                         ksv_file *file, ksv_error *error);
KSV_API void ksv_filter_builder_close(ksv_filter_builder *builder);

/* An open filter. Safe to share between threads. */
typedef struct ksv_filter ksv_filter;

typedef struct ksv_filter_info {
    ksv_filter_options options;
    uint64_t keys;
    uint64_t file_bytes;
} ksv_filter_info;

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
