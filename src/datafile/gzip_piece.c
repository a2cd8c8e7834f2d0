/* SPDX-License-Identifier: MIT */
/* Content of a gzip file, decoded a buffer at a time. */
#include "datafile/gzip_piece.h"

#include <string.h>

#include "base/error.h"
#include "datafile/gzip_peek.h"

static ksv_status decode(gzip_decoder *d, gzip_points *points,
                         gzip_event *event, ksv_error *error)
{
    *event = GZIP_BLOCK;
    while (*event != GZIP_FULL && *event != GZIP_END && *event != GZIP_IDLE) {
        const uint64_t limit =
            points != NULL ? gzip_points_limit(points) : UINT64_MAX;
        KSV_TRY(gzip_decoder_run(d, limit, event, error));
        if (points != NULL)
            KSV_TRY(gzip_points_event(points, d, *event, error));
    }
    return KSV_OK;
}

/* Gives the content from `begin` on, and `ahead` bytes behind it, but for what
 * was given before. */
static void give(gzip_decoder *d, uint64_t begin, size_t ahead,
                 gzip_piece *piece)
{
    size_t size = (size_t)(d->content - begin);
    size_t given = d->given_ahead;
    piece->data = gzip_decoder_content(d, begin);
    d->given_ahead = ahead;
    if (size + ahead > given) {
        piece->data += given;
        piece->size_bytes = size + ahead - given;
    } else {
        d->given_ahead = given - size;
    }
}

ksv_status gzip_piece_decode(gzip_decoder *d, gzip_points *points,
                             points_spans *spans, gzip_piece *piece,
                             ksv_error *error)
{
    memset(piece, 0, sizeof *piece);
    piece->spans = spans;
    const uint64_t begin = d->content;
    gzip_event event;
    const ksv_status status = decode(d, points, &event, error);
    piece->disk_bytes = gzip_input_offset(&d->input);
    piece->garbage_ignored = d->garbage_ignored;
    if (status != KSV_OK)
        return status;
    if (points != NULL)
        gzip_points_take(points, spans);
    piece->last = event == GZIP_END;
    bool body_ends;
    give(d, begin, event == GZIP_IDLE ? gzip_peek(d, &body_ends) : 0, piece);
    return KSV_OK;
}
