/* SPDX-License-Identifier: MIT */
/* What a grown data file has behind what was indexed, and before. */
#include "build/grown_file.h"

#include <string.h>

#include "base/error.h"
#include "build/record_feed.h"
#include "hash/hash.h"
#include "io/file.h"
#include "segment/data_identity.h"
#include "segment/segment_data.h"

#define PIECE_BYTES ((size_t)1 << 18)

/* A piece of the content; an error ends the reading. */
typedef ksv_status (*piece_fn)(void *ctx, uint64_t offset, const uint8_t *data,
                               size_t size_bytes, bool is_last,
                               ksv_error *error);

ksv_status grown_file_open(grown_file *grown, ksv_error *error)
{
    grown->data = NULL;
    KSV_TRY(segment_open_grown_data(grown->place, grown->before,
                                    grown->open_path, &grown->data, error));
    ksv_file *file = datafile_file(grown->data);
    KSV_TRY(file->ops->info(file, &grown->info, error));
    file_wait_for_tick(&grown->info);
    return KSV_OK;
}

void grown_file_close(grown_file *grown)
{
    datafile_close(grown->data);
    grown->data = NULL;
}

ksv_status grown_file_changed(const grown_file *grown, ksv_error *error)
{
    return error_set(error, KSV_ERROR_STALE, grown->given_path,
                     "changed while it was read");
}

/* Of the content that was there before. */
static ksv_status read_some(grown_file *grown, uint64_t offset, void *buffer,
                            size_t size_bytes, ksv_error *error)
{
    datafile_cost cost = {0, 0, 0};
    size_t got;
    KSV_TRY(datafile_read_at(grown->data, offset, buffer, size_bytes, &got,
                             &cost, error));
    grown->read_bytes += cost.bytes_read;
    return got == size_bytes ? KSV_OK : grown_file_changed(grown, error);
}

static ksv_status read_pieces(grown_file *grown, uint64_t from, uint64_t to,
                              uint8_t *piece, piece_fn take, void *ctx,
                              ksv_error *error)
{
    do {
        uint64_t left = to - from;
        size_t wanted = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        KSV_TRY(read_some(grown, from, piece, wanted, error));
        KSV_TRY(take(ctx, from, piece, wanted, from + wanted == to, error));
        KSV_TRY(build_progress_add(grown->progress, grown->given_path, 0, 0,
                                   error));
        from += wanted;
    } while (from < to);
    return KSV_OK;
}

/* Gives the content from `from` to `to`; at least one piece, the last of which
 * may be empty. */
static ksv_status read_range(grown_file *grown, uint64_t from, uint64_t to,
                             piece_fn take, void *ctx, ksv_error *error)
{
    uint8_t *piece = memory_alloc(grown->place->allocator, PIECE_BYTES);
    if (piece == NULL)
        return error_set_memory(error);
    ksv_status status = read_pieces(grown, from, to, piece, take, ctx, error);
    memory_free(grown->place->allocator, piece, PIECE_BYTES);
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
    KSV_TRY(content_hash_open(NULL, grown->place->allocator, &hash, error));
    ksv_status status =
        read_range(grown, 0, before->content_bytes, hash_piece, hash, error);
    content_hash_finish(hash, value, NULL);
    content_hash_close(hash);
    *is_same = memcmp(value, before->content_hash, sizeof value) == 0;
    return status;
}

/* By its samples. A BGZF file may have lost the marker of its end. */
static ksv_status compare_samples(grown_file *grown, bool *is_same,
                                  ksv_error *error)
{
    const catalog_file *before = grown->before;
    ksv_file *file = datafile_file(grown->data);
    uint8_t fingerprint[HASH_FINGERPRINT_BYTES];
    KSV_TRY(hash_fingerprint(file, before->size_bytes, fingerprint, error));
    *is_same =
        memcmp(fingerprint, before->fingerprint, sizeof fingerprint) == 0;
    if (*is_same)
        return KSV_OK;
    KSV_TRY(
        data_identity_lost_marker(file, before, &grown->marker_is_gone, error));
    *is_same = grown->marker_is_gone;
    return KSV_OK;
}

ksv_status grown_file_is_same(grown_file *grown, bool by_samples, bool *is_same,
                              ksv_error *error)
{
    KSV_TRY(compare_samples(grown, is_same, error));
    return by_samples || !*is_same ? KSV_OK
                                   : compare_all(grown, is_same, error);
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
    if (wanted > 0)
        KSV_TRY(read_some(grown, end_offset, bytes, wanted, error));
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

static ksv_status feed_piece(void *ctx, uint64_t offset, const uint8_t *data,
                             size_t size_bytes, bool is_last, ksv_error *error)
{
    return record_feed_piece(ctx, offset, data, size_bytes, is_last, error);
}

static ksv_status read_last(grown_file *grown, record_feed *feed,
                            ksv_error *error)
{
    const catalog_file *before = grown->before;
    KSV_TRY(record_feed_open(feed, grown->spec, before, error));
    ksv_status status =
        read_range(grown, before->complete_bytes, before->content_bytes,
                   feed_piece, feed, error);
    record_feed_close(feed);
    return status;
}

ksv_status grown_file_last_record(grown_file *grown, last_record *last,
                                  ksv_error *error)
{
    memset(last, 0, sizeof *last);
    buffer_init(&last->key, grown->place->allocator);
    tail t = {.grown = grown, .last = last};
    record_feed feed = {.allocator = grown->place->allocator,
                        .offset = grown->before->complete_bytes,
                        .take = take_tail,
                        .ctx = &t};
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = read_last(grown, &feed, &problem);
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
