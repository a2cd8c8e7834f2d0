/* SPDX-License-Identifier: MIT */
/* A sorted table hash -> payload that stands on its own. */
#ifndef KEYSIEVE_TABLE_H
#define KEYSIEVE_TABLE_H

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

/* An immutable table of (hash, payload) entries in pages of 4 KiB. The hashes
 * of a page are Elias-Fano coded (Elias, "Efficient storage and retrieval by
 * content and address of static files", 1974), payloads are bit-packed. Entries
 * with equal top 32 bits of the hash never stand in two pages, so that a lookup
 * reads one page; only an entry repeated beyond a page spans pages. */

typedef struct ksv_table_options {
    unsigned hash_bits;    /* bits kept of a hash, 36..64 */
    unsigned payload_bits; /* 1..57 */
    ksv_hasher hasher;
    /* Any 16 bytes that tell this table from others. */
    uint8_t id[16];
} ksv_table_options;

typedef struct ksv_table_info {
    ksv_table_options options;
    uint64_t entries;
    uint64_t distinct_hashes;
    uint64_t longest_run; /* entries of the hash that has the most */
    uint64_t pages;       /* that hold entries */
    uint64_t file_bytes;
} ksv_table_info;

/* Writes a table in one pass. One thread at a time. */
typedef struct ksv_table_writer ksv_table_writer;

/* `file` is borrowed, empty and open for appending; it has to outlive the
 * writer. `*writer` is released with ksv_table_writer_close(). */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_table_writer_open(ksv_file *file, const ksv_table_options *options,
                      const ksv_allocator *allocator, ksv_table_writer **writer,
                      ksv_error *error);
/* Entries come in ascending order of (hash, payload); `hash` is truncated to
 * `hash_bits` and `payload` below 2^payload_bits (else KSV_ERROR_ARGUMENT).
 * Equal entries are kept as often as they are added. After a failed append
 * every call fails in the same way. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_table_writer_add(ksv_table_writer *writer, uint64_t hash, uint64_t payload,
                     ksv_error *error);
/* Writes what is left and fills `*info` (may be NULL). Does not sync. Nothing
 * may be added afterwards. */
KSV_API KSV_CHECK_RESULT ksv_status ksv_table_writer_finish(
    ksv_table_writer *writer, ksv_table_info *info, ksv_error *error);
/* Frees the writer (NULL is allowed); what was appended stays in the file. */
KSV_API void ksv_table_writer_close(ksv_table_writer *writer);

/* An open table. Safe to share between threads. */
typedef struct ksv_table ksv_table;

/* Opens the table in `file` (borrowed, has to outlive the table). Reads and
 * checks header and footer only; fences and pages are read when needed.
 * KSV_ERROR_CORRUPT, KSV_ERROR_VERSION or KSV_ERROR_IO. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_table_open(ksv_file *file, const ksv_allocator *allocator,
               ksv_table **table, ksv_error *error);

/* Called for each payload, in ascending order; returning false stops. */
typedef bool (*ksv_payload_fn)(void *ctx, uint64_t payload);

/* Visits the payloads of `hash` (truncated or not); none is no error.
 * `*pages_read` (may be NULL) is the number of pages of entries read: 1, or 0
 * when `hash` lies before the first or after the last entry. Only a hash among
 * more than a page of entries with its top 32 bits costs more: the pages that
 * hold it and a binary search over those of its like. A page that cannot be
 * read or is damaged is an error, never an answer; payloads that were visited
 * before it stay valid. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_table_find(ksv_table *table, uint64_t hash, ksv_payload_fn visit, void *ctx,
               uint64_t *pages_read, ksv_error *error);

KSV_API void ksv_table_get_info(const ksv_table *table, ksv_table_info *info);
KSV_API void ksv_table_close(ksv_table *table);

/* Reads all entries in order and checks everything that the file holds: every
 * checksum, the order of entries, fences and counts. One thread at a time; the
 * table has to outlive the iterator. */
typedef struct ksv_table_iterator ksv_table_iterator;

KSV_API KSV_CHECK_RESULT ksv_status ksv_table_iterator_open(
    ksv_table *table, ksv_table_iterator **iterator, ksv_error *error);
/* `*end` is true when there is no further entry; else `*hash` (truncated) and
 * `*payload` are the next one. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_table_iterator_next(ksv_table_iterator *iterator, uint64_t *hash,
                        uint64_t *payload, bool *end, ksv_error *error);
KSV_API void ksv_table_iterator_close(ksv_table_iterator *iterator);

#ifdef __cplusplus
}
#endif

#endif
