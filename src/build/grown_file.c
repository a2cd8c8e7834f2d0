/* SPDX-License-Identifier: MIT */
/* What a grown data file has behind what was indexed, and before. */
#include "build/grown_file.h"

#include <string.h>

#include "base/error.h"
#include "catalog/file_identity.h"
#include "hash/hash.h"
#include "io/file.h"

#define PIECE_BYTES ((size_t)1 << 18)
#define BATCH_RECORDS 256

/* A piece of the content; an error ends the reading. */
typedef ksv_status (*piece_fn)(void *ctx, uint64_t offset, const uint8_t *data,
                               size_t size_bytes, bool is_last,
                               ksv_error *error);

static ksv_status changed(const grown_file *grown, ksv_error *error)
{
    return error_set(error, KSV_ERROR_STALE, grown->given_path,
                     "changed while it was read");
}

static ksv_status read_pieces(grown_file *grown, uint64_t from, uint64_t to,
                              uint8_t *piece, piece_fn take, void *ctx,
                              ksv_error *error)
{
    do {
        uint64_t left = to - from;
        size_t wanted = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        size_t got;
        KSV_TRY(grown->file->ops->read_at(grown->file, from, piece, wanted,
                                          &got, error));
        if (got < wanted)
            return changed(grown, error);
        grown->read_bytes += got;
        KSV_TRY(take(ctx, from, piece, got, from + got == to, error));
        KSV_TRY(build_progress_add(grown->progress, grown->given_path, 0, 0,
                                   error));
        from += got;
    } while (from < to);
    return KSV_OK;
}

/* Gives the content from `from` to `to`; at least one piece, the last of which
 * may be empty. */
static ksv_status read_range(grown_file *grown, uint64_t from, uint64_t to,
                             piece_fn take, void *ctx, ksv_error *error)
{
    uint8_t *piece = memory_alloc(grown->allocator, PIECE_BYTES);
    if (piece == NULL)
        return error_set_memory(error);
    ksv_status status = read_pieces(grown, from, to, piece, take, ctx, error);
    memory_free(grown->allocator, piece, PIECE_BYTES);
    return status;
}

static ksv_status hash_piece(void *ctx, uint64_t offset, const uint8_t *data,
                             size_t size_bytes, bool is_last, ksv_error *error)
{
    (void)offset;
    (void)is_last;
    (void)error;
    content_hash_add(ctx, data, size_bytes);
    return KSV_OK;
}

static ksv_status compare_all(grown_file *grown, bool *is_same,
                              ksv_error *error)
{
    const catalog_file *before = grown->before;
    content_hash *hash;
    uint8_t value[CONTENT_HASH_BYTES];
    KSV_TRY(content_hash_open(NULL, grown->allocator, &hash, error));
    ksv_status status =
        read_range(grown, 0, before->content_bytes, hash_piece, hash, error);
    content_hash_finish(hash, value, NULL);
    content_hash_close(hash);
    *is_same = memcmp(value, before->content_hash, sizeof value) == 0;
    return status;
}

ksv_status grown_file_is_same(grown_file *grown, bool by_samples, bool *is_same,
                              ksv_error *error)
{
    const catalog_file *before = grown->before;
    uint8_t fingerprint[HASH_FINGERPRINT_BYTES];
    *is_same = false;
    KSV_TRY(
        hash_fingerprint(grown->file, before->size_bytes, fingerprint, error));
    if (memcmp(fingerprint, before->fingerprint, sizeof fingerprint) != 0)
        return KSV_OK;
    *is_same = true;
    return by_samples ? KSV_OK : compare_all(grown, is_same, error);
}

/* Feeds a reader, from the record that begins at `offset` on. */
typedef struct record_feed {
    record_reader *reader;
    uint64_t offset;
    grown_records_fn take;
    void *ctx;
    content_hash *hash;   /* or NULL */
    uint64_t hash_offset; /* where it goes on */
    content_hash *old;    /* the same, up to where the content ended */
    uint64_t old_end;
} record_feed;

static ksv_status give_records(record_feed *feed, ksv_error *error)
{
    scan_record records[BATCH_RECORDS];
    for (;;) {
        size_t count;
        KSV_TRY(record_reader_next(feed->reader, records, BATCH_RECORDS, &count,
                                   error));
        if (count == 0)
            return KSV_OK;
        KSV_TRY(feed->take(feed->ctx, records, count, error));
    }
}

/* Adds what lies from `from` to `to` in a piece that begins at `offset`. */
static void hash_part(content_hash *hash, uint64_t from, uint64_t to,
                      uint64_t offset, const uint8_t *data, size_t size_bytes)
{
    uint64_t end = offset + size_bytes;
    uint64_t first = from > offset ? from : offset;
    uint64_t last = to < end ? to : end;
    if (hash != NULL && first < last)
        content_hash_add(hash, data + (first - offset), (size_t)(last - first));
}

static ksv_status feed_piece(void *ctx, uint64_t offset, const uint8_t *data,
                             size_t size_bytes, bool is_last, ksv_error *error)
{
    record_feed *feed = ctx;
    uint64_t end = offset + size_bytes;
    hash_part(feed->hash, feed->hash_offset, UINT64_MAX, offset, data,
              size_bytes);
    hash_part(feed->old, feed->hash_offset, feed->old_end, offset, data,
              size_bytes);
    if (end < feed->offset || (end == feed->offset && !is_last))
        return KSV_OK;
    size_t skip = offset < feed->offset ? (size_t)(feed->offset - offset) : 0;
    record_reader_feed(feed->reader, data + skip, size_bytes - skip, is_last);
    return give_records(feed, error);
}

/* Gives the records from feed->offset to `end`; reads from `from` on. */
static ksv_status run_feed(grown_file *grown, record_feed *feed, uint64_t from,
                           uint64_t end, ksv_error *error)
{
    const catalog_file *before = grown->before;
    KSV_TRY(record_reader_open(grown->spec, false, grown->allocator,
                               &feed->reader, error));
    ksv_status status =
        record_reader_begin_at(feed->reader, before->layout,
                               before->layout_bytes, feed->offset, error);
    if (status == KSV_OK)
        status = read_range(grown, from, end, feed_piece, feed, error);
    record_reader_close(feed->reader);
    return status;
}

typedef struct tail {
    const grown_file *grown;
    last_record *last;
    uint64_t records;
    uint64_t end_offset; /* without the terminator */
} tail;

static ksv_status keep_key(last_record *last, const scan_record *record,
                           ksv_error *error)
{
    buffer_clear(&last->key);
    return buffer_append(&last->key, record->key, record->key_bytes, error);
}

static ksv_status take_tail(void *ctx, const scan_record *records, size_t count,
                            ksv_error *error)
{
    tail *t = ctx;
    for (size_t i = 0; i < count; i++) {
        const scan_record *r = &records[i];
        t->records++;
        t->last->is_known = t->records == 1 &&
                            r->offset == t->grown->before->complete_bytes &&
                            r->kind != SCAN_RECORD_BAD;
        t->last->has_key = r->kind == SCAN_RECORD_KEYED;
        if (t->last->has_key)
            KSV_TRY(keep_key(t->last, r, error));
        t->end_offset = r->offset + r->length;
    }
    return KSV_OK;
}

/* Whether a terminator follows the last record, and where it ends. One that
 * lies across the old end of the file does not count. */
static ksv_status find_terminator(grown_file *grown, uint64_t end_offset,
                                  last_record *last, ksv_error *error)
{
    const scan_spec *spec = grown->spec;
    uint64_t left = grown->before->content_bytes - end_offset;
    uint8_t bytes[2] = {0, 0};
    size_t wanted = left < 2 ? (size_t)left : 2;
    size_t got = 0;
    if (wanted > 0)
        KSV_TRY(grown->file->ops->read_at(grown->file, end_offset, bytes,
                                          wanted, &got, error));
    size_t length = 0;
    if (spec->record_end_cr)
        length = bytes[0] == '\r' ? 1 : 0;
    else if (bytes[0] == '\n')
        length = 1;
    else if (bytes[0] == '\r' && bytes[1] == '\n')
        length = 2;
    last->is_complete = length > 0 || spec->record_size > 0;
    last->end_offset = end_offset + length;
    return KSV_OK;
}

ksv_status grown_file_last_record(grown_file *grown, last_record *last,
                                  ksv_error *error)
{
    const catalog_file *before = grown->before;
    memset(last, 0, sizeof *last);
    buffer_init(&last->key, grown->allocator);
    tail t = {.grown = grown, .last = last};
    record_feed feed = {
        .offset = before->complete_bytes, .take = take_tail, .ctx = &t};
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = run_feed(grown, &feed, before->complete_bytes,
                                 before->content_bytes, &problem);
    if (status == KSV_ERROR_DATA || status == KSV_ERROR_CORRUPT) {
        last->is_known = false;
        return KSV_OK;
    }
    if (status != KSV_OK && error != NULL)
        *error = problem;
    KSV_TRY(status);
    /* A sequence can always go on. */
    if (!last->is_known || grown->spec->format == KSV_FORMAT_FASTA ||
        grown->spec->format == KSV_FORMAT_FASTQ)
        return KSV_OK;
    return find_terminator(grown, t.end_offset, last, error);
}

static ksv_status check_unchanged(const grown_file *grown, ksv_error *error)
{
    ksv_file_info now;
    KSV_TRY(grown->file->ops->info(grown->file, &now, error));
    return file_info_is_same(&grown->info, &now) ? KSV_OK
                                                 : changed(grown, error);
}

static ksv_status read_and_hash(grown_file *grown, record_feed *feed,
                                catalog_file *file, bool *is_same,
                                ksv_error *error)
{
    uint64_t from =
        feed->hash_offset < feed->offset ? feed->hash_offset : feed->offset;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status =
        run_feed(grown, feed, from, grown->info.size_bytes, &problem);
    /* Half-written data may look malformed: that it changes says more. */
    KSV_TRY(check_unchanged(grown, error));
    uint8_t old[CONTENT_HASH_BYTES];
    content_hash_finish(feed->old, old, NULL);
    *is_same = memcmp(old, grown->before->content_hash, sizeof old) == 0;
    if (status == KSV_OK && !*is_same)
        return KSV_OK;
    if (status != KSV_OK) {
        error_replace_path(&problem, grown->given_path);
        if (error != NULL)
            *error = problem;
        return status;
    }
    content_chain chain;
    content_hash_finish(feed->hash, file->content_hash, &chain);
    memcpy(file->content_chain, chain.value, sizeof file->content_chain);
    file->chain_blocks = chain.blocks;
    file_identity_record(file, &grown->info);
    file->content_bytes = grown->info.size_bytes;
    KSV_TRY(hash_fingerprint(grown->file, file->size_bytes, file->fingerprint,
                             error));
    return check_unchanged(grown, error);
}

ksv_status grown_file_read(grown_file *grown, uint64_t offset,
                           grown_records_fn take, void *ctx, catalog_file *file,
                           bool *is_same, ksv_error *error)
{
    const catalog_file *before = grown->before;
    content_chain chain = {.blocks = before->chain_blocks};
    memcpy(chain.value, before->content_chain, sizeof chain.value);
    record_feed feed = {.offset = offset,
                        .take = take,
                        .ctx = ctx,
                        .hash_offset = chain.blocks * CONTENT_BLOCK_BYTES,
                        .old_end = before->content_bytes};
    *is_same = false;
    ksv_status status =
        content_hash_open(&chain, grown->allocator, &feed.hash, error);
    if (status == KSV_OK)
        status = content_hash_open(&chain, grown->allocator, &feed.old, error);
    if (status == KSV_OK)
        status = read_and_hash(grown, &feed, file, is_same, error);
    content_hash_close(feed.old);
    content_hash_close(feed.hash);
    return status;
}
