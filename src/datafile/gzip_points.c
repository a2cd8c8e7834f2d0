/* SPDX-License-Identifier: MIT */
/* Choosing access points during a pass over a gzip file, and collecting what
 * each of them needs. */
#include "datafile/gzip_points.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "datafile/crc32.h"
#include "datafile/zlib_bridge.h"

struct gzip_points {
    ksv_allocator allocator;
    points_writer *writer;
    zlib_deflater *deflater;
    uint64_t spacing_bytes;
    uint64_t member_spacing_bytes;
    uint64_t content;     /* seen so far */
    uint64_t block_bit;   /* where the block begins */
    bool wait_for_block;  /* no point can come in this one */
    bool has_point;       /* one whose span is not complete */
    bool window_complete; /* its window is in the blob */
    uint32_t window_bytes;
    points_entry entry;
    uint64_t chunk_begin; /* offset of the chunk that is being read */
    uint32_t chunk_crc;
    byte_buffer crcs; /* of complete chunks after the first */
    byte_buffer blob;
    uint8_t window[INFLATE_WINDOW_BYTES]; /* its end is the point */
    uint8_t marks[INFLATE_WINDOW_BYTES];
    uint8_t deflated[INFLATE_WINDOW_BYTES];
};

ksv_status gzip_points_open(points_writer *writer, bool is_bgzf,
                            const ksv_allocator *allocator, gzip_points **out,
                            ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    gzip_points *p = memory_zalloc(&a, sizeof *p);
    if (p == NULL)
        return error_set_memory(error);
    p->allocator = a;
    p->writer = writer;
    p->spacing_bytes = points_writer_spacing(writer);
    p->member_spacing_bytes = p->spacing_bytes / 2;
    if (is_bgzf) {
        p->member_spacing_bytes = GZIP_POINTS_BGZF_MEMBER_BYTES;
        if (p->spacing_bytes < GZIP_POINTS_BGZF_SPACING_LEAST)
            p->spacing_bytes = GZIP_POINTS_BGZF_SPACING_LEAST;
    }
    if (p->member_spacing_bytes == 0)
        p->member_spacing_bytes = 1;
    buffer_init(&p->crcs, &p->allocator);
    buffer_init(&p->blob, &p->allocator);
    ksv_status status = zlib_deflater_open(&p->allocator, &p->deflater, error);
    if (status != KSV_OK) {
        gzip_points_close(p);
        return status;
    }
    *out = p;
    return KSV_OK;
}

void gzip_points_close(gzip_points *points)
{
    if (points == NULL)
        return;
    ksv_allocator a = points->allocator;
    zlib_deflater_close(points->deflater);
    buffer_release(&points->crcs);
    buffer_release(&points->blob);
    memory_free(&a, points, sizeof *points);
}

/* How far a point in the middle of a block is from the one before it. */
static uint64_t middle_spacing(const gzip_points *p)
{
    return p->spacing_bytes + p->spacing_bytes / 4;
}

static bool marks_wanted(const gzip_points *p)
{
    return p->has_point && !p->window_complete;
}

uint64_t gzip_points_limit(const gzip_points *points)
{
    if (!points->has_point)
        return UINT64_MAX;
    const uint64_t middle =
        points->wait_for_block ? UINT64_MAX
                               : points->entry.content + middle_spacing(points);
    const uint64_t marked = points->entry.content + INFLATE_WINDOW_BYTES;
    return marks_wanted(points) && marked < middle ? marked : middle;
}

static ksv_status end_chunk(gzip_points *p, ksv_error *error)
{
    if (p->chunk_begin == p->entry.content)
        p->entry.first_crc = p->chunk_crc;
    else
        KSV_TRY(buffer_put_u32(&p->crcs, p->chunk_crc, error));
    p->chunk_begin = p->content;
    p->chunk_crc = 0;
    return KSV_OK;
}

ksv_status gzip_points_content(gzip_points *points, const uint8_t *data,
                               size_t size_bytes, ksv_error *error)
{
    gzip_points *p = points;
    while (size_bytes != 0) {
        const uint64_t room = p->chunk_begin + POINTS_CHUNK_BYTES - p->content;
        const size_t part = size_bytes < room ? size_bytes : (size_t)room;
        p->chunk_crc = crc32_update(p->chunk_crc, data, part);
        p->content += part;
        data += part;
        size_bytes -= part;
        if (part == room)
            KSV_TRY(end_chunk(p, error));
    }
    return KSV_OK;
}

/* Zeroes what no copy has read; how much of the window is left from the first
 * byte that one has. */
static uint32_t thin_window(gzip_points *p)
{
    for (size_t i = 0; i < INFLATE_WINDOW_BYTES; i++)
        p->window[i] &= (uint8_t)-p->marks[i];
    const uint8_t *first = memchr(p->marks, 1, INFLATE_WINDOW_BYTES);
    return first != NULL ? INFLATE_WINDOW_BYTES - (uint32_t)(first - p->marks)
                         : 0;
}

/* Puts the window into the blob. With `marked` the marks are complete. */
static ksv_status complete_window(gzip_points *p, bool marked, ksv_error *error)
{
    p->window_complete = true;
    const uint32_t size = marked ? thin_window(p) : p->window_bytes;
    p->entry.window_bytes = (uint16_t)size;
    p->entry.window_stored_bytes = (uint16_t)size;
    if (size == 0)
        return KSV_OK;
    const uint8_t *window = p->window + INFLATE_WINDOW_BYTES - size;
    const size_t deflated =
        zlib_deflate(p->deflater, window, size, p->deflated, size - 1);
    if (deflated == 0)
        return buffer_append(&p->blob, window, size, error);
    p->entry.window_stored_bytes = (uint16_t)deflated;
    return buffer_append(&p->blob, p->deflated, deflated, error);
}

/* The span of the last point ends here, before byte `data_end` of the file. */
static ksv_status end_span(gzip_points *p, uint64_t data_end, ksv_error *error)
{
    if (!p->has_point)
        return KSV_OK;
    p->has_point = false;
    p->entry.span_bytes = (uint32_t)(p->content - p->entry.content);
    p->entry.data_end = data_end;
    if (p->entry.span_bytes == 0)
        return KSV_OK;
    if (p->chunk_begin != p->content)
        KSV_TRY(end_chunk(p, error));
    KSV_TRY(buffer_append(&p->blob, p->crcs.data, p->crcs.size, error));
    return points_writer_add(p->writer, &p->entry, p->blob.data, error);
}

static void begin_span(gzip_points *p, uint64_t header_bit, uint64_t symbol_bit,
                       uint64_t member_offset)
{
    memset(&p->entry, 0, sizeof p->entry);
    p->entry.content = p->content;
    p->entry.header_bit = header_bit;
    p->entry.symbol_bit = symbol_bit;
    p->entry.member_offset = member_offset;
    p->chunk_begin = p->content;
    p->chunk_crc = 0;
    buffer_clear(&p->crcs);
    buffer_clear(&p->blob);
    p->has_point = true;
    p->window_complete = true;
    p->window_bytes = 0;
}

/* Keeps the bytes before the point and has the copies from them marked. */
static void keep_window(gzip_points *p, gzip_decoder *d)
{
    const size_t behind = (size_t)(d->inflate.out - d->inflate.history);
    const size_t size =
        behind < INFLATE_WINDOW_BYTES ? behind : INFLATE_WINDOW_BYTES;
    if (size == 0)
        return;
    p->window_complete = false;
    p->window_bytes = (uint32_t)size;
    memcpy(p->window + INFLATE_WINDOW_BYTES - size, d->inflate.out - size,
           size);
    memset(p->marks, 0, sizeof p->marks);
    d->inflate.marks = p->marks;
    d->inflate.marks_end = d->inflate.out;
}

/* Ends the marking when it is complete, or when another point comes. */
static ksv_status end_marks(gzip_points *p, gzip_decoder *d, bool marked,
                            ksv_error *error)
{
    if (!marks_wanted(p))
        return KSV_OK;
    d->inflate.marks = NULL;
    return complete_window(p, marked, error);
}

static ksv_status place_point(gzip_points *p, gzip_decoder *d,
                              uint64_t header_bit, ksv_error *error)
{
    const uint64_t bit = gzip_decoder_bit(d);
    KSV_TRY(end_marks(p, d, false, error));
    KSV_TRY(end_span(p, (bit + 7) / 8, error));
    begin_span(p, header_bit, bit, d->member_offset);
    keep_window(p, d);
    return KSV_OK;
}

static bool is_due(const gzip_points *p, uint64_t spacing_bytes)
{
    return !p->has_point || p->content - p->entry.content >= spacing_bytes;
}

ksv_status gzip_points_end(gzip_points *points, uint64_t data_end,
                           uint64_t members, ksv_error *error)
{
    KSV_TRY(end_span(points, data_end, error));
    points_writer_set_totals(points->writer, points->content, members);
    return KSV_OK;
}

ksv_status gzip_points_event(gzip_points *points, gzip_decoder *d,
                             gzip_event event, ksv_error *error)
{
    gzip_points *p = points;
    KSV_TRY(gzip_points_content(p, gzip_decoder_content(d, p->content),
                                (size_t)(d->content - p->content), error));
    if (event == GZIP_MEMBER || event == GZIP_END ||
        (marks_wanted(p) &&
         p->content - p->entry.content >= INFLATE_WINDOW_BYTES))
        KSV_TRY(end_marks(p, d, true, error));
    switch (event) {
    case GZIP_MEMBER:
    case GZIP_BLOCK:
        p->wait_for_block = false;
        p->block_bit = gzip_decoder_bit(d);
        if (is_due(p, event == GZIP_MEMBER ? p->member_spacing_bytes
                                           : p->spacing_bytes))
            return place_point(p, d, p->block_bit, error);
        return KSV_OK;
    case GZIP_LIMIT:
        if (!is_due(p, middle_spacing(p)))
            return KSV_OK;
        p->wait_for_block = d->inflate.place != INFLATE_IN_CODED;
        if (p->wait_for_block)
            return KSV_OK;
        return place_point(p, d, p->block_bit, error);
    case GZIP_END:
        return gzip_points_end(p, d->data_end, d->members, error);
    default:
        return KSV_OK;
    }
}

ksv_status gzip_points_block(gzip_points *points, uint64_t member_offset,
                             uint64_t body_offset, ksv_error *error)
{
    if (!is_due(points, points->member_spacing_bytes))
        return KSV_OK;
    KSV_TRY(end_span(points, body_offset, error));
    begin_span(points, body_offset * 8, body_offset * 8, member_offset);
    return KSV_OK;
}
