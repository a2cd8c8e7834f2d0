/* SPDX-License-Identifier: MIT */
/* Plain content of a source that can be read once, such as a pipe. */
#include "datafile/source_stream.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "datafile/compression.h"

#define SOURCE_PIECE_BYTES ((size_t)256 << 10)

/* Whether more bytes could turn `head` into the mark of a compression: a line
 * of a slow pipe must not wait for the next one. */
static bool may_be_compressed(const uint8_t *head, size_t size_bytes)
{
    static const uint8_t firsts[] = {0x1f, 0x28, 0xfd, 0x04, 'B'};
    return size_bytes == 0 || (size_bytes < COMPRESSION_MARK_BYTES &&
                               memchr(firsts, head[0], sizeof firsts) != NULL);
}

ksv_status source_stream_open(source_stream *stream, sequential_read_fn read,
                              void *ctx, const ksv_allocator *allocator,
                              ksv_error *error)
{
    *stream = (source_stream){.read = read, .ctx = ctx};
    stream->piece = memory_alloc(allocator, SOURCE_PIECE_BYTES);
    if (stream->piece == NULL)
        return error_set_memory(error);
    while (!stream->at_end &&
           may_be_compressed(stream->piece, stream->head_bytes)) {
        size_t got = 0;
        KSV_TRY(read(ctx, stream->piece + stream->head_bytes,
                     SOURCE_PIECE_BYTES - stream->head_bytes, &got,
                     &stream->at_end, error));
        stream->head_bytes += got;
    }
    return KSV_OK;
}

ksv_status source_stream_next(source_stream *stream, const uint8_t **data,
                              size_t *size_bytes, bool *last, ksv_error *error)
{
    *data = stream->piece;
    *size_bytes = stream->head_bytes;
    if (stream->head_bytes == 0 && !stream->at_end)
        KSV_TRY(stream->read(stream->ctx, stream->piece, SOURCE_PIECE_BYTES,
                             size_bytes, &stream->at_end, error));
    stream->head_bytes = 0;
    *last = stream->at_end;
    return KSV_OK;
}

void source_stream_close(source_stream *stream, const ksv_allocator *allocator)
{
    if (stream->piece != NULL)
        memory_free(allocator, stream->piece, SOURCE_PIECE_BYTES);
    stream->piece = NULL;
}
