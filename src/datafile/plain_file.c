/* SPDX-License-Identifier: MIT */
/* Data files whose content is their bytes. */
#include "datafile/plain_file.h"

#include "base/error.h"
#include "base/memory.h"

ksv_status plain_stream_open(plain_stream *stream, ksv_file *file,
                             const ksv_allocator *allocator, ksv_error *error)
{
    *stream = (plain_stream){.file = file};
    stream->piece = memory_alloc(allocator, PLAIN_PIECE_BYTES);
    return stream->piece != NULL ? KSV_OK : error_set_memory(error);
}

ksv_status plain_stream_next(plain_stream *stream, const uint8_t **data,
                             size_t *size_bytes, bool *last, ksv_error *error)
{
    *data = stream->piece;
    *size_bytes = 0;
    size_t got = 0;
    /* Not read again after its end: what is appended meanwhile is not seen. */
    if (!stream->at_end)
        KSV_TRY(stream->file->ops->read_at(stream->file, stream->offset,
                                           stream->piece, PLAIN_PIECE_BYTES,
                                           &got, error));
    stream->offset += got;
    stream->at_end = got < PLAIN_PIECE_BYTES;
    *size_bytes = got;
    *last = stream->at_end;
    return KSV_OK;
}

void plain_stream_close(plain_stream *stream, const ksv_allocator *allocator)
{
    memory_free(allocator, stream->piece, PLAIN_PIECE_BYTES);
    stream->piece = NULL;
}

ksv_status plain_read_at(ksv_file *file, uint64_t offset, void *buffer,
                         size_t size_bytes, size_t *got_bytes,
                         datafile_cost *cost, ksv_error *error)
{
    KSV_TRY(
        file->ops->read_at(file, offset, buffer, size_bytes, got_bytes, error));
    if (cost != NULL) {
        cost->reads++;
        cost->bytes_read += *got_bytes;
    }
    return KSV_OK;
}
