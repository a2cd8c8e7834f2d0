/* SPDX-License-Identifier: MIT */
/* A data file read by uncompressed offset: what its kind is, and who reads it.
 */
#include "datafile/datafile.h"

#include <string.h>

#include "base/error.h"
#include "datafile/compression.h"
#include "datafile/gzip_header.h"
#include "datafile/gzip_reader.h"
#include "datafile/gzip_stream.h"
#include "datafile/plain_file.h"
#include "datafile/source_stream.h"
#include "io/file.h"

struct datafile_stream {
    ksv_allocator allocator;
    const ksv_file_system *fs; /* of a file */
    char *path;
    ksv_file *file;
    ksv_file_info opened_as;
    datafile_kind kind;
    plain_stream plain;
    source_stream source; /* read instead of a file, when it has one */
    gzip_stream *gzip;    /* NULL for plain content */
    uint64_t content_bytes;
};

struct datafile {
    ksv_allocator allocator;
    char *path;
    ksv_file *file;
    gzip_reader *gzip; /* NULL for plain content */
};

static ksv_status check_regular(const ksv_file_info *info, const char *path,
                                ksv_error *error)
{
    if (info->kind == KSV_FILE_DIRECTORY)
        return error_set(error, KSV_ERROR_ARGUMENT, path, "is a directory");
    if (info->kind != KSV_FILE_REGULAR)
        return error_set(error, KSV_ERROR_ARGUMENT, path,
                         "is not a regular file, so its records could not be "
                         "read again");
    return KSV_OK;
}

/* Asked by path first, since opening a device may do something to it, and then
 * of what was opened. On failure `*file` is NULL. */
static ksv_status open_regular(const ksv_file_system *fs, const char *path,
                               ksv_file **file, ksv_file_info *info,
                               ksv_error *error)
{
    *file = NULL;
    KSV_TRY(fs->info(fs->ctx, path, info, error));
    KSV_TRY(check_regular(info, path, error));
    ksv_file *opened;
    KSV_TRY(fs->open_read(fs->ctx, path, &opened, error));
    ksv_status status = opened->ops->info(opened, info, error);
    if (status == KSV_OK)
        status = check_regular(info, path, error);
    if (status != KSV_OK) {
        file_close_quietly(opened);
        return status;
    }
    *file = opened;
    return KSV_OK;
}

static ksv_status tell_gzip(const uint8_t *head, size_t got, const char *path,
                            bool *is_gzip, ksv_error *error)
{
    *is_gzip = got >= 2 && head[0] == GZIP_MAGIC_1 && head[1] == GZIP_MAGIC_2;
    const char *compression = compression_name(head, got);
    if (compression != NULL && !*is_gzip)
        return error_set(error, KSV_ERROR_UNSUPPORTED, path,
                         "is compressed with %s, which cannot be read",
                         compression);
    return KSV_OK;
}

static ksv_status open_gzip(datafile_stream *stream, ksv_error *error)
{
    KSV_TRY(gzip_stream_open(stream->file, &stream->allocator, &stream->gzip,
                             error));
    stream->kind = gzip_stream_kind(stream->gzip);
    return KSV_OK;
}

static ksv_status stream_open(datafile_stream *stream,
                              const ksv_file_system *fs, const char *path,
                              ksv_error *error)
{
    stream->fs = fs;
    stream->path = memory_copy_string(&stream->allocator, path, strlen(path));
    if (stream->path == NULL)
        return error_set_memory(error);
    KSV_TRY(open_regular(fs, path, &stream->file, &stream->opened_as, error));
    uint8_t head[COMPRESSION_MARK_BYTES];
    size_t got;
    bool is_gzip;
    KSV_TRY(stream->file->ops->read_at(stream->file, 0, head, sizeof head, &got,
                                       error));
    KSV_TRY(tell_gzip(head, got, path, &is_gzip, error));
    if (is_gzip)
        return open_gzip(stream, error);
    return plain_stream_open(&stream->plain, stream->file, &stream->allocator,
                             error);
}

ksv_status datafile_stream_open(const ksv_file_system *fs, const char *path,
                                const ksv_allocator *allocator,
                                datafile_stream **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    datafile_stream *stream = memory_zalloc(&a, sizeof *stream);
    if (stream == NULL)
        return error_set_memory(error);
    stream->allocator = a;
    ksv_status status = stream_open(stream, fs, path, error);
    if (status != KSV_OK) {
        error_add_path(error, path);
        datafile_stream_close(stream);
        return status;
    }
    *out = stream;
    return KSV_OK;
}

static ksv_status source_open(datafile_stream *stream, sequential_read_fn read,
                              void *ctx, const char *name, ksv_error *error)
{
    stream->path = memory_copy_string(&stream->allocator, name, strlen(name));
    if (stream->path == NULL)
        return error_set_memory(error);
    stream->opened_as.kind = KSV_FILE_OTHER;
    source_stream *source = &stream->source;
    KSV_TRY(source_stream_open(source, read, ctx, &stream->allocator, error));
    bool is_gzip;
    KSV_TRY(
        tell_gzip(source->piece, source->head_bytes, name, &is_gzip, error));
    if (!is_gzip)
        return KSV_OK;
    KSV_TRY(sequential_file_open(read, ctx, source->piece, source->head_bytes,
                                 source->at_end, &stream->allocator,
                                 &stream->file, error));
    source_stream_close(source, &stream->allocator);
    return open_gzip(stream, error);
}

ksv_status datafile_stream_open_source(sequential_read_fn read, void *ctx,
                                       const char *name,
                                       const ksv_allocator *allocator,
                                       datafile_stream **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    datafile_stream *stream = memory_zalloc(&a, sizeof *stream);
    if (stream == NULL)
        return error_set_memory(error);
    stream->allocator = a;
    ksv_status status = source_open(stream, read, ctx, name, error);
    if (status != KSV_OK) {
        error_add_path(error, name);
        datafile_stream_close(stream);
        return status;
    }
    *out = stream;
    return KSV_OK;
}

static ksv_status resume_gzip(datafile_stream *stream,
                              const datafile_stream_options *options,
                              ksv_error *error)
{
    const datafile_resume *resume = options->resume;
    points_reader *known;
    KSV_TRY(points_reader_open(stream->fs, resume->points_path,
                               resume->points_id, &stream->allocator, &known,
                               error));
    ksv_status status =
        gzip_stream_resume(stream->gzip, known, resume, options->points, error);
    points_reader_close(known);
    return status;
}

ksv_status datafile_stream_configure(datafile_stream *stream,
                                     const datafile_stream_options *options,
                                     ksv_error *error)
{
    if (stream->gzip == NULL) {
        if (options->resume != NULL)
            stream->plain.offset = options->resume->content;
        stream->content_bytes = stream->plain.offset;
        return KSV_OK;
    }
    KSV_TRY(gzip_stream_configure(stream->gzip, options, error));
    if (options->resume == NULL)
        return KSV_OK;
    KSV_TRY(resume_gzip(stream, options, error));
    stream->content_bytes = gzip_stream_content_bytes(stream->gzip);
    return KSV_OK;
}

ksv_status datafile_stream_next(datafile_stream *stream, const uint8_t **data,
                                size_t *size_bytes, bool *last,
                                ksv_error *error)
{
    ksv_status status;
    if (stream->gzip != NULL)
        status = gzip_stream_next(stream->gzip, data, size_bytes, last, error);
    else if (stream->source.read != NULL)
        status =
            source_stream_next(&stream->source, data, size_bytes, last, error);
    else
        status =
            plain_stream_next(&stream->plain, data, size_bytes, last, error);
    if (status != KSV_OK)
        error_add_path(error, stream->path);
    else
        stream->content_bytes += *size_bytes;
    return status;
}

void datafile_stream_opened_as(const datafile_stream *stream,
                               ksv_file_info *info)
{
    *info = stream->opened_as;
}

ksv_status datafile_stream_info_now(datafile_stream *stream,
                                    ksv_file_info *info, ksv_error *error)
{
    ksv_status status = stream->file->ops->info(stream->file, info, error);
    if (status != KSV_OK)
        error_add_path(error, stream->path);
    return status;
}

ksv_file *datafile_stream_file(datafile_stream *stream)
{
    return stream->file;
}

datafile_kind datafile_stream_kind(const datafile_stream *stream)
{
    return stream->kind;
}

uint64_t datafile_stream_disk_bytes(const datafile_stream *stream)
{
    if (stream->gzip != NULL)
        return gzip_stream_disk_bytes(stream->gzip);
    return stream->source.read != NULL ? stream->content_bytes
                                       : stream->plain.offset;
}

unsigned datafile_stream_warnings(const datafile_stream *stream)
{
    return stream->gzip != NULL ? gzip_stream_warnings(stream->gzip) : 0;
}

uint64_t datafile_stream_content_bytes(const datafile_stream *stream)
{
    return stream->content_bytes;
}

void datafile_stream_close(datafile_stream *stream)
{
    if (stream == NULL)
        return;
    ksv_allocator a = stream->allocator;
    plain_stream_close(&stream->plain, &a);
    source_stream_close(&stream->source, &a);
    gzip_stream_close(stream->gzip);
    file_close_quietly(stream->file);
    memory_free_string(&a, stream->path);
    memory_free(&a, stream, sizeof *stream);
}

/* With the points of `points_path`, or NULL for plain content. */
static ksv_status file_open(datafile *file, const ksv_file_system *fs,
                            const char *path, const char *points_path,
                            const uint8_t *points_id, bool has_grown,
                            ksv_error *error)
{
    file->path = memory_copy_string(&file->allocator, path, strlen(path));
    if (file->path == NULL)
        return error_set_memory(error);
    ksv_file_info info;
    KSV_TRY(open_regular(fs, path, &file->file, &info, error));
    if (points_path == NULL)
        return KSV_OK;
    points_reader *points;
    KSV_TRY(points_reader_open(fs, points_path, points_id, &file->allocator,
                               &points, error));
    if (!has_grown &&
        points_reader_info(points)->data_bytes != info.size_bytes) {
        points_reader_close(points);
        return error_set(error, KSV_ERROR_STALE, path,
                         "has changed since it was indexed");
    }
    return gzip_reader_open(file->file, points, &file->allocator, &file->gzip,
                            error);
}

static ksv_status open_with(const ksv_file_system *fs, const char *path,
                            const char *points_path, const uint8_t *points_id,
                            bool has_grown, const ksv_allocator *allocator,
                            datafile **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    datafile *file = memory_zalloc(&a, sizeof *file);
    if (file == NULL)
        return error_set_memory(error);
    file->allocator = a;
    ksv_status status =
        file_open(file, fs, path, points_path, points_id, has_grown, error);
    if (status != KSV_OK) {
        error_add_path(error, path);
        datafile_close(file);
        return status;
    }
    *out = file;
    return KSV_OK;
}

ksv_status datafile_open(const ksv_file_system *fs, const char *path,
                         datafile_kind kind, const ksv_allocator *allocator,
                         datafile **out, ksv_error *error)
{
    *out = NULL;
    if (kind != DATAFILE_PLAIN)
        return error_set(error, KSV_ERROR_UNSUPPORTED, path,
                         "was indexed as data of kind %d, which cannot be read "
                         "without access points",
                         (int)kind);
    return open_with(fs, path, NULL, NULL, false, allocator, out, error);
}

ksv_status datafile_open_compressed(const ksv_file_system *fs, const char *path,
                                    const char *points_path,
                                    const uint8_t *points_id,
                                    const ksv_allocator *allocator,
                                    datafile **out, ksv_error *error)
{
    return open_with(fs, path, points_path, points_id, false, allocator, out,
                     error);
}

ksv_status datafile_open_grown(const ksv_file_system *fs, const char *path,
                               const char *points_path,
                               const uint8_t *points_id,
                               const ksv_allocator *allocator, datafile **out,
                               ksv_error *error)
{
    return open_with(fs, path, points_path, points_id, true, allocator, out,
                     error);
}

ksv_status datafile_read_at(datafile *file, uint64_t offset, void *buffer,
                            size_t size_bytes, size_t *got_bytes,
                            datafile_cost *cost, ksv_error *error)
{
    ksv_status status =
        file->gzip != NULL
            ? gzip_reader_read_at(file->gzip, offset, buffer, size_bytes,
                                  got_bytes, cost, error)
            : plain_read_at(file->file, offset, buffer, size_bytes, got_bytes,
                            cost, error);
    if (status != KSV_OK)
        error_add_path(error, file->path);
    return status;
}

ksv_file *datafile_file(datafile *file)
{
    return file->file;
}

void datafile_close(datafile *file)
{
    if (file == NULL)
        return;
    ksv_allocator a = file->allocator;
    gzip_reader_close(file->gzip);
    file_close_quietly(file->file);
    memory_free_string(&a, file->path);
    memory_free(&a, file, sizeof *file);
}
