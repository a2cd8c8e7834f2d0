/* SPDX-License-Identifier: MIT */
/* A file to which passed keys are appended, with marks up to where they count.
 */
#ifndef KSV_DEDUP_JOURNAL_H
#define KSV_DEDUP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "dedup/exact_keys.h"

#define JOURNAL_MAGIC "KSVJRNL\n"
#define JOURNAL_MAGIC_BYTES 8
#define JOURNAL_VERSION 1
#define JOURNAL_HEADER_BYTES 64
#define JOURNAL_FRAME_BYTES 32
#define JOURNAL_FRAME_MAGIC 0x464a534bu /* "KSJF" */

typedef enum journal_frame_kind {
    JOURNAL_KEYS = 1,  /* entries */
    JOURNAL_COMMIT = 2 /* all entries before it count */
} journal_frame_kind;

/* What an entry has beside the hash, as bits. */
#define JOURNAL_HAS_TIMES 1u
#define JOURNAL_HAS_KEYS 2u

typedef struct journal_info {
    uint8_t id[16];
    uint32_t content; /* JOURNAL_HAS_... */
} journal_info;

/* One thread at a time. After an error it can only be closed. */
typedef struct journal_writer journal_writer;

/* Creates the file and makes it durable, but for its name. */
ksv_status journal_writer_open(const ksv_file_system *fs, const char *path,
                               const journal_info *info,
                               const ksv_allocator *allocator,
                               journal_writer **out, ksv_error *error);
/* What was not committed is not written. NULL is allowed. */
void journal_writer_close(journal_writer *writer);

ksv_status journal_writer_add(journal_writer *writer, const offered_key *key,
                              ksv_error *error);
/* Makes all entries durable, and count. */
ksv_status journal_writer_commit(journal_writer *writer, ksv_error *error);

/* Bytes that were committed, and bytes of the file. */
uint64_t journal_writer_committed(const journal_writer *writer);
uint64_t journal_writer_bytes(const journal_writer *writer);

/* Takes an entry; without keys `key->key` is NULL. */
typedef ksv_status (*journal_entry_fn)(void *ctx, const offered_key *key,
                                       ksv_error *error);

/* Gives all entries that count, in order. What follows the last mark was being
 * written when the process or the machine stopped; it is left out. But
 * KSV_ERROR_CORRUPT when a mark follows what is damaged, or when the marks end
 * before `committed_bytes`, or the file is another than `info` says. */
ksv_status journal_read(const ksv_file_system *fs, const char *path,
                        const journal_info *info, uint64_t committed_bytes,
                        const ksv_allocator *allocator, journal_entry_fn take,
                        void *ctx, ksv_error *error);

#endif
