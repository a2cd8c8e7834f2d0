/* SPDX-License-Identifier: MIT */
/* One pass over the content of a gzip or BGZF file. */
#include "datafile/gzip_stream.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "datafile/bgzf_stream.h"
#include "datafile/compression.h"
#include "datafile/gzip_decoder.h"
#include "datafile/gzip_points.h"

#define INPUT_BYTES ((size_t)256 << 10)
#define PIECE_BYTES ((size_t)256 << 10)

struct gzip_stream {
    ksv_allocator allocator;
    ksv_file *file;
    datafile_kind kind;
    gzip_decoder decoder;
    gzip_points *points;   /* or NULL */
    bgzf_stream *parallel; /* or NULL */
    bool at_end;
};

/* Looks at the first header; what is wrong with it is found again later. */
static ksv_status tell_bgzf(gzip_stream *s, ksv_error *error)
{
    gzip_header header;
    gzip_header_begin(&header);
    uint8_t bytes[512];
    uint64_t offset = 0;
    size_t got = sizeof bytes;
    while (header.state < GZIP_HEADER_COMPLETE && got == sizeof bytes) {
        KSV_TRY(s->file->ops->read_at(s->file, offset, bytes, sizeof bytes,
                                      &got, error));
        (void)gzip_header_push(&header, bytes, got);
        offset += got;
    }
    s->kind =
        header.state == GZIP_HEADER_COMPLETE && header.bgzf_block_bytes != 0
            ? DATAFILE_BGZF
            : DATAFILE_GZIP;
    return KSV_OK;
}

ksv_status gzip_stream_open(ksv_file *file, const ksv_allocator *allocator,
                            gzip_stream **out, ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    gzip_stream *s = memory_zalloc(&a, sizeof *s);
    if (s == NULL)
        return error_set_memory(error);
    s->allocator = a;
    s->file = file;
    ksv_status status = gzip_decoder_open(&s->decoder, file, INPUT_BYTES,
                                          PIECE_BYTES, &s->allocator, error);
    if (status == KSV_OK)
        status = tell_bgzf(s, error);
    if (status != KSV_OK) {
        gzip_stream_close(s);
        return status;
    }
    s->decoder.is_bgzf = s->kind == DATAFILE_BGZF;
    *out = s;
    return KSV_OK;
}

void gzip_stream_close(gzip_stream *stream)
{
    if (stream == NULL)
        return;
    ksv_allocator a = stream->allocator;
    bgzf_stream_close(stream->parallel);
    gzip_points_close(stream->points);
    gzip_decoder_close(&stream->decoder);
    memory_free(&a, stream, sizeof *stream);
}

datafile_kind gzip_stream_kind(const gzip_stream *stream)
{
    return stream->kind;
}

ksv_status gzip_stream_configure(gzip_stream *stream,
                                 const datafile_stream_options *options,
                                 ksv_error *error)
{
    gzip_stream *s = stream;
    s->decoder.ignore_trailing_garbage = options->ignore_trailing_garbage;
    if (options->points != NULL)
        KSV_TRY(gzip_points_open(options->points, s->kind == DATAFILE_BGZF,
                                 &s->allocator, &s->points, error));
    if (s->kind == DATAFILE_BGZF && options->threads > 1)
        KSV_TRY(bgzf_stream_open(s->file, options->threads, s->points,
                                 &s->allocator, &s->parallel, error));
    return KSV_OK;
}

/* Content that is itself compressed has no records to find. */
static ksv_status check_head(const uint8_t *data, size_t size_bytes,
                             ksv_error *error)
{
    const char *name = compression_name(data, size_bytes);
    if (name == NULL)
        return KSV_OK;
    if (strcmp(name, "gzip") == 0)
        return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                         "the content is itself gzip: it was compressed twice");
    return error_set(error, KSV_ERROR_UNSUPPORTED, NULL,
                     "the content is itself compressed, with %s", name);
}

/* Decodes until the buffer is full or nothing follows. */
static ksv_status next_serial(gzip_stream *s, const uint8_t **data,
                              size_t *size_bytes, ksv_error *error)
{
    gzip_decoder *d = &s->decoder;
    gzip_decoder_make_room(d);
    const uint64_t begin = d->content;
    gzip_event event = GZIP_BLOCK;
    while (event != GZIP_FULL && event != GZIP_END) {
        const uint64_t limit =
            s->points != NULL ? gzip_points_limit(s->points) : UINT64_MAX;
        KSV_TRY(gzip_decoder_run(d, limit, &event, error));
        if (s->points != NULL)
            KSV_TRY(gzip_points_event(s->points, d, event, error));
    }
    s->at_end = event == GZIP_END;
    *data = gzip_decoder_content(d, begin);
    *size_bytes = (size_t)(d->content - begin);
    return KSV_OK;
}

/* What the threads cannot do, or will not because of what is wrong with it, the
 * decoder goes on with. */
static ksv_status next_parallel(gzip_stream *s, const uint8_t **data,
                                size_t *size_bytes, ksv_error *error)
{
    bool done;
    KSV_TRY(bgzf_stream_next(s->parallel, data, size_bytes, &done, error));
    if (!done)
        return KSV_OK;
    const bgzf_stream_place place = bgzf_stream_end(s->parallel);
    bgzf_stream_close(s->parallel);
    s->parallel = NULL;
    gzip_decoder_seek_member(&s->decoder, place.offset, place.content,
                             place.blocks);
    s->decoder.ends_with_marker = place.ends_with_marker;
    return next_serial(s, data, size_bytes, error);
}

ksv_status gzip_stream_next(gzip_stream *stream, const uint8_t **data,
                            size_t *size_bytes, bool *last, ksv_error *error)
{
    gzip_stream *s = stream;
    *size_bytes = 0;
    *last = false;
    const uint64_t begin = s->parallel != NULL
                               ? bgzf_stream_end(s->parallel).content
                               : s->decoder.content;
    if (s->parallel != NULL)
        KSV_TRY(next_parallel(s, data, size_bytes, error));
    else
        KSV_TRY(next_serial(s, data, size_bytes, error));
    *last = s->at_end;
    return begin == 0 ? check_head(*data, *size_bytes, error) : KSV_OK;
}

uint64_t gzip_stream_disk_bytes(const gzip_stream *stream)
{
    return stream->parallel != NULL ? bgzf_stream_end(stream->parallel).offset
                                    : gzip_input_offset(&stream->decoder.input);
}

unsigned gzip_stream_warnings(const gzip_stream *stream)
{
    unsigned warnings = 0;
    if (stream->decoder.garbage_ignored)
        warnings |= DATAFILE_GARBAGE_IGNORED;
    if (stream->at_end && stream->kind == DATAFILE_BGZF &&
        !stream->decoder.ends_with_marker)
        warnings |= DATAFILE_NO_END_MARKER;
    return warnings;
}
