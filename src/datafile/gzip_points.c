/* SPDX-License-Identifier: MIT */
/* Choosing access points during a pass over a gzip file, and collecting what
 * each of them needs. */
#include "datafile/gzip_points.h"

#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "compress/zlib_bridge.h"
#include "datafile/crc32.h"

struct gzip_points {
    ksv_allocator allocator;
    uint64_t spacing_bytes;
    uint64_t member_spacing_bytes;
    uint64_t content;    /* seen so far */
    uint64_t block_bit;  /* where the block begins */
    bool wait_for_block; /* no point can come in this one */
    bool has_point;      /* one whose span is not complete */
    bool noting;         /* copies from its window are being noted */
    points_entry entry;
    points_window kept;
    /* The CRC of a chunk, from running ones that begin anew with each member:
     * it is known up to `part_begin`, where the running one was `part_crc`. */
    uint64_t chunk_begin;
    uint64_t part_begin;
    uint32_t chunk_crc;
    uint32_t part_crc;
    uint32_t running_crc;
    byte_buffer crcs; /* of complete chunks after the first */
    gzip_known_members known;
    uint64_t known_seen; /* of them, those that this pass has met */
    points_spans spans;
    uint8_t window[INFLATE_WINDOW_BYTES];
    inflate_source sources[INFLATE_SOURCES];
};

ksv_status gzip_points_open(uint64_t spacing_bytes, bool is_bgzf,
                            const ksv_allocator *allocator, gzip_points **out,
                            ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    gzip_points *p = memory_zalloc(&a, sizeof *p);
    if (p == NULL)
        return error_set_memory(error);
    p->allocator = a;
    p->spacing_bytes = spacing_bytes;
    p->member_spacing_bytes = p->spacing_bytes / 2;
    if (is_bgzf) {
        p->member_spacing_bytes = GZIP_POINTS_BGZF_MEMBER_BYTES;
        if (p->spacing_bytes < GZIP_POINTS_BGZF_SPACING_LEAST)
            p->spacing_bytes = GZIP_POINTS_BGZF_SPACING_LEAST;
    }
    if (p->member_spacing_bytes == 0)
        p->member_spacing_bytes = 1;
    buffer_init(&p->crcs, &p->allocator);
    points_spans_init(&p->spans, &p->allocator);
    *out = p;
    return KSV_OK;
}

void gzip_points_close(gzip_points *points)
{
    if (points == NULL)
        return;
    ksv_allocator a = points->allocator;
    buffer_release(&points->crcs);
    points_spans_release(&points->spans);
    memory_free(&a, points, sizeof *points);
}

/* How far a point in the middle of a block is from the one before it. */
static uint64_t middle_spacing(const gzip_points *p)
{
    return p->spacing_bytes + p->spacing_bytes / 4;
}

uint64_t gzip_points_limit(const gzip_points *points)
{
    if (!points->has_point)
        return UINT64_MAX;
    const uint64_t middle =
        points->wait_for_block ? UINT64_MAX
                               : points->entry.content + middle_spacing(points);
    const uint64_t noted = points->entry.content + INFLATE_WINDOW_BYTES;
    return points->noting && noted < middle ? noted : middle;
}

static void begin_part(gzip_points *p, uint32_t crc)
{
    p->part_begin = p->content;
    p->part_crc = crc;
    p->running_crc = crc;
}

/* Brings the CRC of the chunk up to here. */
static void end_part(gzip_points *p)
{
    p->chunk_crc =
        p->running_crc ^ zlib_crc32_shift(p->chunk_crc ^ p->part_crc,
                                          p->content - p->part_begin);
}

static void begin_chunk(gzip_points *p)
{
    p->chunk_begin = p->content;
    p->chunk_crc = 0;
    begin_part(p, p->running_crc);
}

static ksv_status end_chunk(gzip_points *p, ksv_error *error)
{
    end_part(p);
    if (p->chunk_begin == p->entry.content)
        p->entry.first_crc = p->chunk_crc;
    else
        KSV_TRY(buffer_put_u32(&p->crcs, p->chunk_crc, error));
    begin_chunk(p);
    return KSV_OK;
}

static uint64_t left_of_chunk(const gzip_points *p)
{
    return p->chunk_begin + POINTS_CHUNK_BYTES - p->content;
}

/* So many bytes more, after which the running CRC is `crc`, in the chunk. */
static ksv_status add_content(gzip_points *p, size_t size_bytes, uint32_t crc,
                              ksv_error *error)
{
    const bool ends = size_bytes == left_of_chunk(p);
    p->running_crc = crc;
    p->content += size_bytes;
    return ends ? end_chunk(p, error) : KSV_OK;
}

ksv_status gzip_points_sum(void *ctx, uint32_t *crc, const uint8_t *data,
                           size_t size_bytes, ksv_error *error)
{
    gzip_points *p = ctx;
    while (size_bytes != 0) {
        const uint64_t room = left_of_chunk(p);
        const size_t part = size_bytes < room ? size_bytes : (size_t)room;
        *crc = crc32_update(*crc, data, part);
        KSV_TRY(add_content(p, part, *crc, error));
        data += part;
        size_bytes -= part;
    }
    return KSV_OK;
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
    return points_spans_add(&p->spans, &p->entry, &p->kept, &p->crcs, error);
}

static void begin_span(gzip_points *p, uint64_t header_bit, uint64_t symbol_bit,
                       uint64_t member_offset)
{
    memset(&p->entry, 0, sizeof p->entry);
    p->entry.content = p->content;
    p->entry.header_bit = header_bit;
    p->entry.symbol_bit = symbol_bit;
    p->entry.member_offset = member_offset;
    begin_chunk(p);
    buffer_clear(&p->crcs);
    p->kept = (points_window){p->window, 0, p->sources, 0, false};
    p->has_point = true;
}

/* Keeps the bytes before the point and has the copies from them noted. */
static void keep_window(gzip_points *p, gzip_decoder *d)
{
    const size_t behind = (size_t)(d->inflate.out - d->inflate.history);
    const size_t size =
        behind < INFLATE_WINDOW_BYTES ? behind : INFLATE_WINDOW_BYTES;
    if (size == 0)
        return;
    memcpy(p->window, d->inflate.out - size, size);
    p->kept.size_bytes = size;
    p->noting = true;
    d->inflate.sources = p->sources;
    d->inflate.window_end = d->inflate.out;
}

/* Ends the noting when it is complete, or when another point comes. */
static void end_noting(gzip_points *p, gzip_decoder *d, bool complete)
{
    if (!p->noting)
        return;
    p->noting = false;
    p->kept.whole = !complete;
    if (complete)
        p->kept.source_count = (size_t)(d->inflate.sources - p->sources);
    d->inflate.sources = NULL;
}

static ksv_status place_point(gzip_points *p, gzip_decoder *d,
                              uint64_t header_bit, ksv_error *error)
{
    const uint64_t bit = gzip_decoder_bit(d);
    end_noting(p, d, false);
    KSV_TRY(end_span(p, (bit + 7) / 8, error));
    begin_span(p, header_bit, bit, d->member_offset);
    keep_window(p, d);
    return KSV_OK;
}

static bool is_due(const gzip_points *p, uint64_t spacing_bytes)
{
    return !p->has_point || p->content - p->entry.content >= spacing_bytes;
}

static ksv_status end_points(gzip_points *p, uint64_t data_end,
                             uint64_t members, ksv_error *error)
{
    KSV_TRY(end_span(p, data_end, error));
    p->spans.complete = true;
    p->spans.content_bytes = p->content;
    p->spans.members = members;
    return KSV_OK;
}

void gzip_points_resume(gzip_points *points, const points_entry *entry,
                        const uint8_t *window, const gzip_known_members *known)
{
    gzip_points *p = points;
    p->known = *known;
    p->content = entry->content;
    p->block_bit = entry->header_bit;
    begin_span(p, entry->header_bit, entry->symbol_bit, entry->member_offset);
    if (entry->window_bytes != 0)
        memcpy(p->window, window, entry->window_bytes);
    p->kept.size_bytes = entry->window_bytes;
    p->kept.whole = true;
}

/* Of the members that were known before, some end in this pass. */
static uint64_t count_members(gzip_points *p, const gzip_decoder *d)
{
    if (d->data_end <= p->known.data_end)
        p->known_seen = d->members;
    return p->known.count - p->known_seen + d->members;
}

/* The running CRC begins anew. */
static void begin_member(gzip_points *p)
{
    end_part(p);
    begin_part(p, 0);
}

/* The window is complete where nothing can reach it any more. */
static bool is_noted(const gzip_points *p, gzip_event event)
{
    return event == GZIP_MEMBER || event == GZIP_END ||
           p->content - p->entry.content >= INFLATE_WINDOW_BYTES;
}

ksv_status gzip_points_event(gzip_points *points, gzip_decoder *d,
                             gzip_event event, ksv_error *error)
{
    gzip_points *p = points;
    const uint64_t members = count_members(p, d);
    if (is_noted(p, event))
        end_noting(p, d, true);
    if (event == GZIP_MEMBER)
        begin_member(p);
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
        return end_points(p, d->data_end, members, error);
    default:
        return KSV_OK;
    }
}

ksv_status gzip_points_block(gzip_points *points, uint64_t member_offset,
                             uint64_t body_offset, const uint8_t *data,
                             size_t size_bytes, uint32_t crc, ksv_error *error)
{
    gzip_points *p = points;
    begin_member(p);
    if (is_due(p, p->member_spacing_bytes)) {
        KSV_TRY(end_span(p, body_offset, error));
        begin_span(p, body_offset * 8, body_offset * 8, member_offset);
    }
    if (size_bytes <= left_of_chunk(p))
        return add_content(p, size_bytes, crc, error);
    uint32_t summed = 0;
    return gzip_points_sum(p, &summed, data, size_bytes, error);
}

void gzip_points_take(gzip_points *points, points_spans *spans)
{
    points_spans *from = &points->spans;
    uint8_t *data = spans->bytes.data;
    const size_t capacity = spans->bytes.capacity;
    spans->bytes.data = from->bytes.data;
    spans->bytes.size = from->bytes.size;
    spans->bytes.capacity = from->bytes.capacity;
    from->bytes.data = data;
    from->bytes.size = 0;
    from->bytes.capacity = capacity;
    spans->complete = from->complete;
    spans->content_bytes = from->content_bytes;
    spans->members = from->members;
    from->complete = false;
}
