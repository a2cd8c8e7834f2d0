/* SPDX-License-Identifier: MIT */
/* The hash of the whole content of a data file, by reading it. */
#include "datafile/content_hash.h"

#include "base/error.h"
#include "datafile/datafile.h"
#include "io/file.h"

static ksv_status add_all(datafile_stream *stream, hash_content *content,
                          ksv_error *error)
{
    for (bool last = false; !last;) {
        const uint8_t *data;
        size_t size_bytes;
        KSV_TRY(datafile_stream_next(stream, &data, &size_bytes, &last, error));
        hash_content_add(content, data, size_bytes);
    }
    return KSV_OK;
}

static ksv_status hash_stream(datafile_stream *stream, hash_content *content,
                              ksv_file_info *info, ksv_error *error)
{
    const datafile_stream_options options = {.ignore_trailing_garbage = true};
    KSV_TRY(datafile_stream_configure(stream, &options, error));
    datafile_stream_opened_as(stream, info);
    file_wait_for_tick(info);
    KSV_TRY(add_all(stream, content, error));
    ksv_file_info now;
    KSV_TRY(datafile_stream_info_now(stream, &now, error));
    if (!file_info_is_same(info, &now))
        return error_set(error, KSV_ERROR_STALE, NULL,
                         "changed while it was read");
    return KSV_OK;
}

ksv_status datafile_content_hash(const ksv_file_system *fs, const char *path,
                                 const ksv_allocator *allocator,
                                 ksv_file_info *info,
                                 uint8_t hash[HASH_CONTENT_BYTES],
                                 ksv_error *error)
{
    hash_content *content;
    KSV_TRY(hash_content_open(allocator, &content, error));
    datafile_stream *stream = NULL;
    ksv_status status =
        datafile_stream_open(fs, path, allocator, &stream, error);
    if (status == KSV_OK)
        status = hash_stream(stream, content, info, error);
    if (status == KSV_OK)
        hash_content_finish(content, hash);
    else
        error_add_path(error, path);
    datafile_stream_close(stream);
    hash_content_close(content);
    return status;
}
