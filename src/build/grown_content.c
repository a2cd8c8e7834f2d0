/* SPDX-License-Identifier: MIT */
/* What was appended to a grown data file. */
#include "build/grown_content.h"

#include <string.h>

#include "base/error.h"
#include "catalog/file_identity.h"
#include "hash/hash.h"
#include "io/file.h"
#include "segment/segment_data.h"

static ksv_status check_unchanged(const grown_file *grown, ksv_error *error)
{
    ksv_file *file = datafile_file(grown->data);
    ksv_file_info now;
    KSV_TRY(file->ops->info(file, &now, error));
    return file_info_is_same(&grown->info, &now)
               ? KSV_OK
               : grown_file_changed(grown, error);
}

/* The pass that was opened has to be over the same file. */
static ksv_status check_opened(const grown_file *grown,
                               const datafile_stream *stream, ksv_error *error)
{
    ksv_file_info opened;
    datafile_stream_opened_as(stream, &opened);
    return file_info_is_same(&grown->info, &opened)
               ? KSV_OK
               : grown_file_changed(grown, error);
}

/* From a place that is not behind `from` to the end of the file. */
static ksv_status configure(const grown_content *content, uint64_t from,
                            datafile_stream *stream, ksv_error *error)
{
    const grown_file *grown = content->grown;
    datafile_resume resume = {.content = from,
                              .marker_is_gone = grown->marker_is_gone};
    datafile_stream_options options = {.ignore_trailing_garbage =
                                           content->ignore_trailing_garbage,
                                       .points = content->points,
                                       .resume = &resume};
    char *path = NULL;
    uint8_t id[16];
    if (content->points != NULL)
        KSV_TRY(
            segment_points_path(grown->place, grown->before, &path, id, error));
    resume.points_path = path;
    resume.points_id = id;
    ksv_status status = datafile_stream_configure(stream, &options, error);
    memory_free_string(grown->place->allocator, path);
    return status;
}

static ksv_status feed_all(grown_file *grown, record_feed *feed,
                           datafile_stream *stream, ksv_error *error)
{
    uint64_t begin = datafile_stream_disk_bytes(stream);
    for (bool last = false; !last;) {
        const uint8_t *data;
        size_t size_bytes;
        uint64_t offset = datafile_stream_content_bytes(stream);
        KSV_TRY(datafile_stream_next(stream, &data, &size_bytes, &last, error));
        uint64_t end = datafile_stream_disk_bytes(stream);
        grown->read_bytes += end - begin;
        begin = end;
        KSV_TRY(record_feed_piece(feed, offset, data, size_bytes, last, error));
        KSV_TRY(build_progress_add(grown->progress, grown->given_path, 0, 0,
                                   error));
    }
    return KSV_OK;
}

static ksv_status run_stream(grown_content *content, record_feed *feed,
                             datafile_stream *stream, ksv_error *error)
{
    uint64_t from =
        feed->hash_offset < feed->offset ? feed->hash_offset : feed->offset;
    KSV_TRY(check_opened(content->grown, stream, error));
    KSV_TRY(configure(content, from, stream, error));
    KSV_TRY(feed_all(content->grown, feed, stream, error));
    content->warnings = datafile_stream_warnings(stream);
    return KSV_OK;
}

static ksv_status run_feed(grown_content *content, record_feed *feed,
                           catalog_file *file, ksv_error *error)
{
    grown_file *grown = content->grown;
    datafile_stream *stream;
    KSV_TRY(datafile_stream_open(grown->place->fs, grown->open_path,
                                 grown->place->allocator, &stream, error));
    ksv_status status =
        record_feed_open(feed, grown->spec, grown->before, error);
    if (status == KSV_OK)
        status = run_stream(content, feed, stream, error);
    file->data_kind = datafile_stream_kind(stream);
    file->content_bytes = datafile_stream_content_bytes(stream);
    record_feed_close(feed);
    datafile_stream_close(stream);
    return status;
}

/* What the whole file is now. */
static ksv_status describe(const grown_file *grown, record_feed *feed,
                           catalog_file *file, ksv_error *error)
{
    content_chain chain;
    content_hash_finish(feed->hash, file->content_hash, &chain);
    memcpy(file->content_chain, chain.value, sizeof file->content_chain);
    file->chain_blocks = chain.blocks;
    file_identity_record(file, &grown->info);
    KSV_TRY(hash_fingerprint(datafile_file(grown->data), file->size_bytes,
                             file->fingerprint, error));
    return check_unchanged(grown, error);
}

static ksv_status read_and_hash(grown_content *content, record_feed *feed,
                                catalog_file *file, ksv_error *error)
{
    const grown_file *grown = content->grown;
    ksv_error problem;
    error_clear(&problem);
    ksv_status status = run_feed(content, feed, file, &problem);
    /* Half-written data may look malformed: that it changes says more. */
    KSV_TRY(check_unchanged(grown, error));
    uint8_t old[CONTENT_HASH_BYTES];
    content_hash_finish(feed->old, old, NULL);
    content->is_same =
        memcmp(old, grown->before->content_hash, sizeof old) == 0;
    if (status == KSV_OK && content->is_same)
        return describe(grown, feed, file, error);
    if (status == KSV_OK)
        return KSV_OK;
    error_replace_path(&problem, grown->given_path);
    if (error != NULL)
        *error = problem;
    return status;
}

ksv_status grown_content_read(grown_content *content, catalog_file *file,
                              ksv_error *error)
{
    const grown_file *grown = content->grown;
    const catalog_file *before = grown->before;
    const ksv_allocator *a = grown->place->allocator;
    content_chain chain = {.blocks = before->chain_blocks};
    memcpy(chain.value, before->content_chain, sizeof chain.value);
    record_feed feed = {.allocator = a,
                        .offset = content->offset,
                        .take = content->take,
                        .ctx = content->ctx,
                        .hash_offset = chain.blocks * CONTENT_BLOCK_BYTES,
                        .old_end = before->content_bytes};
    content->is_same = false;
    ksv_status status = content_hash_open(&chain, a, &feed.hash, error);
    if (status == KSV_OK)
        status = content_hash_open(&chain, a, &feed.old, error);
    if (status == KSV_OK)
        status = read_and_hash(content, &feed, file, error);
    content_hash_close(feed.old);
    content_hash_close(feed.hash);
    return status;
}
