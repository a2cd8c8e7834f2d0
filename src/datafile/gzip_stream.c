/* SPDX-License-Identifier: MIT */
/* One pass over the content of a gzip or BGZF file. */
#include "datafile/gzip_stream.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "datafile/bgzf_stream.h"
#include "datafile/compression.h"
#include "datafile/gzip_ahead.h"
#include "datafile/gzip_decoder.h"
#include "datafile/gzip_piece.h"
#include "datafile/gzip_points.h"
#include "datafile/gzip_resume.h"

#define INPUT_BYTES ((size_t)256 << 10)
#define PIECE_BYTES ((size_t)256 << 10)
/* A body and a trailer have as many. */
#define HEADER_STEP_BYTES 10

struct gzip_stream {
    ksv_allocator allocator;
    ksv_file *file;
    datafile_kind kind;
    gzip_decoder decoder; /* not to be looked at while `ahead` is there */
    gzip_points *points;  /* or NULL, and then so is `finisher` */
    points_finisher *finisher;
    points_spans spans;    /* when no other thread finds them */
    bgzf_stream *parallel; /* or NULL */
    gzip_ahead *ahead;     /* or NULL */
    gzip_piece piece;      /* the last one that the decoder gave */
    uint64_t content_bytes;
};

/* Looks at the first header; what is wrong with it is found again later. No
 * more is read than any member has. */
static ksv_status tell_bgzf(gzip_stream *s, ksv_error *error)
{
    gzip_header header;
    gzip_header_begin(&header);
    uint8_t bytes[HEADER_STEP_BYTES];
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
    points_spans_init(&s->spans, &s->allocator);
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
    gzip_ahead_close(stream->ahead);
    gzip_points_close(stream->points);
    points_finisher_close(stream->finisher);
    points_spans_release(&stream->spans);
    gzip_decoder_close(&stream->decoder);
    memory_free(&a, stream, sizeof *stream);
}

datafile_kind gzip_stream_kind(const gzip_stream *stream)
{
    return stream->kind;
}

/* Where memory or threads cannot be had the caller's thread does all. */
static void open_threads(gzip_stream *s, unsigned threads)
{
    if (threads < 2)
        return;
    if (s->kind == DATAFILE_BGZF)
        (void)bgzf_stream_open(s->file, threads, s->points, &s->allocator,
                               &s->parallel, NULL);
    else
        (void)gzip_ahead_open(&s->decoder, s->points, &s->allocator, &s->ahead,
                              NULL);
}

static ksv_status open_points(gzip_stream *s, points_writer *writer,
                              ksv_error *error)
{
    KSV_TRY(gzip_points_open(points_writer_spacing(writer),
                             s->kind == DATAFILE_BGZF, &s->allocator,
                             &s->points, error));
    s->decoder.sum = gzip_points_sum;
    s->decoder.sum_ctx = s->points;
    return points_finisher_open(writer, &s->allocator, &s->finisher, error);
}

ksv_status gzip_stream_configure(gzip_stream *stream,
                                 const datafile_stream_options *options,
                                 ksv_error *error)
{
    gzip_stream *s = stream;
    s->decoder.ignore_trailing_garbage = options->ignore_trailing_garbage;
    if (options->points != NULL)
        KSV_TRY(open_points(s, options->points, error));
    if (options->resume == NULL)
        open_threads(s, options->threads);
    return KSV_OK;
}

ksv_status gzip_stream_resume(gzip_stream *stream, points_reader *known,
                              const datafile_resume *resume,
                              points_writer *writer, ksv_error *error)
{
    gzip_stream *s = stream;
    KSV_TRY(gzip_resume(&s->decoder, s->points, known, resume->content,
                        resume->marker_is_gone, writer, &s->allocator, error));
    s->content_bytes = s->decoder.content;
    s->piece.disk_bytes = gzip_decoder_bit(&s->decoder) / 8;
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

static ksv_status write_spans(gzip_stream *s, points_spans *spans,
                              ksv_error *error)
{
    return s->finisher != NULL
               ? points_finisher_write(s->finisher, spans, error)
               : KSV_OK;
}

static ksv_status next_piece(gzip_stream *s, ksv_error *error)
{
    if (s->ahead != NULL) {
        KSV_TRY(gzip_ahead_next(s->ahead, &s->piece, error));
    } else {
        gzip_decoder_make_room(&s->decoder);
        KSV_TRY(gzip_piece_decode(&s->decoder, s->points, &s->spans, &s->piece,
                                  error));
    }
    return write_spans(s, s->piece.spans, error);
}

/* What the threads cannot do, or will not because of what is wrong with it, the
 * decoder goes on with: `*done`. */
static ksv_status next_parallel(gzip_stream *s, const uint8_t **data,
                                size_t *size_bytes, bool *done,
                                ksv_error *error)
{
    KSV_TRY(bgzf_stream_next(s->parallel, data, size_bytes, done, error));
    if (s->points != NULL) {
        gzip_points_take(s->points, &s->spans);
        KSV_TRY(write_spans(s, &s->spans, error));
    }
    if (!*done)
        return KSV_OK;
    const bgzf_stream_place place = bgzf_stream_end(s->parallel);
    bgzf_stream_close(s->parallel);
    s->parallel = NULL;
    gzip_decoder_seek_member(&s->decoder, place.offset, place.content,
                             place.blocks);
    s->decoder.ends_with_marker = place.ends_with_marker;
    return KSV_OK;
}

ksv_status gzip_stream_next(gzip_stream *stream, const uint8_t **data,
                            size_t *size_bytes, bool *last, ksv_error *error)
{
    gzip_stream *s = stream;
    *size_bytes = 0;
    *last = false;
    bool done = true;
    if (s->parallel != NULL)
        KSV_TRY(next_parallel(s, data, size_bytes, &done, error));
    if (done) {
        KSV_TRY(next_piece(s, error));
        *data = s->piece.data;
        *size_bytes = s->piece.size_bytes;
        *last = s->piece.last;
    }
    const bool is_first = s->content_bytes == 0;
    s->content_bytes += *size_bytes;
    return is_first ? check_head(*data, *size_bytes, error) : KSV_OK;
}

uint64_t gzip_stream_disk_bytes(const gzip_stream *stream)
{
    return stream->parallel != NULL ? bgzf_stream_end(stream->parallel).offset
                                    : stream->piece.disk_bytes;
}

uint64_t gzip_stream_content_bytes(const gzip_stream *stream)
{
    return stream->content_bytes;
}

unsigned gzip_stream_warnings(const gzip_stream *stream)
{
    unsigned warnings = 0;
    if (stream->piece.garbage_ignored)
        warnings |= DATAFILE_GARBAGE_IGNORED;
    if (stream->piece.last && stream->kind == DATAFILE_BGZF &&
        !stream->decoder.ends_with_marker)
        warnings |= DATAFILE_NO_END_MARKER;
    return warnings;
}
