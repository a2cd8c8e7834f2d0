/* SPDX-License-Identifier: MIT */
/* Reads a data file from start to end and gives its records. */
#include "scan/file_scan.h"

#include <string.h>

#include "base/error.h"
#include "datafile/content_hash.h"
#include "hash/hash.h"
#include "io/file.h"
#include "scan/parallel_scan.h"
#include "scan/scan_batch.h"

/* The objects that a scan works with. */
typedef struct scan_parts {
    datafile_stream *stream;
    record_reader *reader;
    content_hash *content;
    scan_batch batch;
    /* The file as a whole, when one piece was all of it; or NULL. */
    const uint8_t *whole;
} scan_parts;

/* `*in_content` tells whether an error was met in the content, not in how it is
 * compressed. */
static ksv_status give_all(const file_scan *scan, scan_parts *parts,
                           bool *in_content, ksv_error *error)
{
    *in_content = false;
    record_reader_begin(parts->reader);
    bool is_first = datafile_stream_kind(parts->stream) == DATAFILE_PLAIN &&
                    datafile_stream_content_bytes(parts->stream) == 0;
    for (bool last = false; !last;) {
        const uint8_t *data;
        size_t size_bytes;
        KSV_TRY(datafile_stream_next(parts->stream, &data, &size_bytes, &last,
                                     error));
        parts->whole = is_first && last ? data : NULL;
        is_first = false;
        content_hash_add(parts->content, data, size_bytes);
        record_reader_feed(parts->reader, data, size_bytes, last);
        *in_content = true;
        KSV_TRY(scan_batch_give(&parts->batch, parts->reader, 0, error));
        *in_content = false;
        if (scan->progress != NULL)
            KSV_TRY(scan->progress(
                scan->ctx, datafile_stream_disk_bytes(parts->stream), error));
    }
    return KSV_OK;
}

/* The line that holds the byte at `offset`, from 1, or 0 when it cannot be
 * told. Only on the way to an error message, so a second pass is cheap. */
static uint64_t find_line(const file_scan *scan, uint64_t offset)
{
    datafile_stream *stream;
    if (datafile_stream_open(scan->fs, scan->path, scan->allocator, &stream,
                             NULL) != KSV_OK)
        return 0;
    int end = scan->spec->record_end_cr ? '\r' : '\n';
    uint64_t line = 1;
    bool last = false;
    while (!last && offset > 0) {
        const uint8_t *data;
        size_t size_bytes;
        if (datafile_stream_next(stream, &data, &size_bytes, &last, NULL) !=
            KSV_OK)
            break;
        size_t before = offset < size_bytes ? (size_t)offset : size_bytes;
        offset -= before;
        for (size_t i = 0; i < before; i++)
            line += data[i] == end;
    }
    datafile_stream_close(stream);
    return offset == 0 ? line : 0;
}

/* What was read is of use only when the file is still what it was. */
static ksv_status check_unchanged(const file_scan *scan,
                                  datafile_stream *stream,
                                  const ksv_file_info *before, ksv_error *error)
{
    ksv_file_info now;
    KSV_TRY(datafile_stream_info_now(stream, &now, error));
    if (file_info_is_same(before, &now))
        return KSV_OK;
    return error_set(error, KSV_ERROR_STALE, scan->given_path,
                     "changed while it was read");
}

static ksv_status take_fingerprint(const scan_parts *parts,
                                   file_scan_result *result, ksv_error *error)
{
    uint64_t size_bytes = result->info.size_bytes;
    if (parts->whole == NULL || result->content_bytes != size_bytes)
        return hash_fingerprint(datafile_stream_file(parts->stream), size_bytes,
                                result->fingerprint, error);
    hash_fingerprint_of(parts->whole, (size_t)size_bytes, result->fingerprint);
    return KSV_OK;
}

static ksv_status scan_stream(const file_scan *scan, scan_parts *parts,
                              file_scan_result *result, ksv_error *error)
{
    datafile_stream *stream = parts->stream;
    datafile_stream_opened_as(stream, &result->info);
    file_wait_for_tick(&result->info);
    ksv_error problem;
    error_clear(&problem);
    bool in_parallel = parallel_scan_is_possible(scan, stream);
    bool in_content = in_parallel;
    ksv_status status = in_parallel
                            ? parallel_scan_run(scan, stream, parts->reader,
                                                parts->content, &problem)
                            : give_all(scan, parts, &in_content, &problem);
    /* Half-written data may look malformed: that it changes says more. */
    KSV_TRY(check_unchanged(scan, stream, &result->info, error));
    if (status != KSV_OK) {
        if (problem.status == KSV_ERROR_DATA && in_content &&
            problem.line == 0 && problem.byte_offset != KSV_NO_OFFSET)
            problem.line = find_line(scan, problem.byte_offset);
        if (error != NULL)
            *error = problem;
        return status;
    }
    result->kind = datafile_stream_kind(stream);
    result->content_bytes = in_parallel ? result->info.size_bytes
                                        : datafile_stream_content_bytes(stream);
    result->warnings = datafile_stream_warnings(stream);
    KSV_TRY(take_fingerprint(parts, result, error));
    content_hash_finish(parts->content, result->content_hash,
                        &result->content_chain);
    KSV_TRY(record_reader_layout(parts->reader, &result->layout, error));
    return check_unchanged(scan, stream, &result->info, error);
}

static ksv_status configure_stream(const file_scan *scan,
                                   datafile_stream *stream, ksv_error *error)
{
    datafile_kind kind = datafile_stream_kind(stream);
    datafile_stream_options options = {.threads = scan->threads,
                                       .ignore_trailing_garbage =
                                           scan->ignore_trailing_garbage};
    if (kind == DATAFILE_PLAIN)
        return KSV_OK;
    if (scan->points != NULL)
        KSV_TRY(scan->points(scan->ctx, kind, &options.points, error));
    return datafile_stream_configure(stream, &options, error);
}

static ksv_status open_parts(const file_scan *scan, scan_parts *parts,
                             ksv_error *error)
{
    KSV_TRY(scan_batch_init(&parts->batch, scan, 0, error));
    KSV_TRY(content_hash_open(NULL, scan->allocator, &parts->content, error));
    KSV_TRY(record_reader_open(scan->spec, scan->skip_bad_records,
                               scan->allocator, &parts->reader, error));
    KSV_TRY(datafile_stream_open(scan->fs, scan->path, scan->allocator,
                                 &parts->stream, error));
    return configure_stream(scan, parts->stream, error);
}

static void close_parts(scan_parts *parts)
{
    datafile_stream_close(parts->stream);
    record_reader_close(parts->reader);
    content_hash_close(parts->content);
    scan_batch_release(&parts->batch);
}

ksv_status file_scan_run(const file_scan *scan, file_scan_result *result,
                         ksv_error *error)
{
    memset(result, 0, sizeof *result);
    buffer_init(&result->layout, scan->allocator);
    scan_parts parts = {NULL};
    ksv_status status = open_parts(scan, &parts, error);
    if (status == KSV_OK)
        status = scan_stream(scan, &parts, result, error);
    if (status != KSV_OK)
        error_replace_path(error, scan->given_path);
    close_parts(&parts);
    return status;
}
