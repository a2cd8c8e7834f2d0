/* SPDX-License-Identifier: MIT */
/* The members of a gzip file, decoded in steps through a sliding buffer. */
#include "datafile/gzip_decoder.h"

#include <inttypes.h>
#include <string.h>

#include "base/coding.h"
#include "base/error.h"
#include "base/memory.h"
#include "datafile/crc32.h"
#include "datafile/gzip_peek.h"

/* Enough of the input for the header of a block, read before a place inside of
 * the block. */
#define BLOCK_HEADER_BYTES ((uint64_t)INFLATE_INPUT_WANTED)

size_t gzip_decoder_buffer_bytes(const gzip_decoder *d)
{
    return INFLATE_WINDOW_BYTES + d->piece_bytes + INFLATE_OUTPUT_SLACK;
}

static void restart_output(gzip_decoder *d, size_t window_bytes)
{
    d->inflate.out = d->buffer + window_bytes;
    d->inflate.history = d->buffer;
    d->checked = d->inflate.out;
}

ksv_status gzip_decoder_open(gzip_decoder *d, ksv_file *file,
                             size_t input_bytes, size_t piece_bytes,
                             const ksv_allocator *allocator, ksv_error *error)
{
    memset(d, 0, sizeof *d);
    d->allocator = *allocator;
    d->piece_bytes = piece_bytes;
    d->check_members = true;
    d->own_buffer = memory_alloc(allocator, gzip_decoder_buffer_bytes(d));
    if (d->own_buffer == NULL)
        return error_set_memory(error);
    d->buffer = d->own_buffer;
    inflate_init(&d->inflate);
    restart_output(d, 0);
    return gzip_input_open(&d->input, file, input_bytes, allocator, error);
}

void gzip_decoder_close(gzip_decoder *d)
{
    if (d->own_buffer != NULL)
        memory_free(&d->allocator, d->own_buffer, gzip_decoder_buffer_bytes(d));
    d->own_buffer = NULL;
    d->buffer = NULL;
    gzip_input_close(&d->input, &d->allocator);
}

static const char *member_name(const gzip_decoder *d)
{
    return d->is_bgzf ? "BGZF block" : "gzip member";
}

static ksv_status truncated(const gzip_decoder *d, const char *where,
                            ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_DATA, NULL, d->member_offset,
                        "the %s at compressed byte %" PRIu64
                        " is truncated: the file ends inside %s",
                        member_name(d), d->member_offset, where);
}

static ksv_status damaged(const gzip_decoder *d, const char *problem,
                          ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_DATA, NULL, d->member_offset,
                        "the compressed data of the %s at compressed byte "
                        "%" PRIu64 " is damaged: %s",
                        member_name(d), d->member_offset, problem);
}

static ksv_status wrong_trailer(const gzip_decoder *d, const char *what,
                                ksv_error *error)
{
    return error_set_at(error, KSV_ERROR_DATA, NULL, d->member_offset,
                        "the %s of the %s at compressed byte %" PRIu64
                        " is wrong: its data is damaged",
                        what, member_name(d), d->member_offset);
}

static ksv_status meet_garbage(gzip_decoder *d, ksv_error *error)
{
    if (d->ignore_trailing_garbage) {
        d->garbage_ignored = true;
        d->phase = GZIP_AT_END;
        return KSV_OK;
    }
    const uint64_t offset = gzip_input_offset(&d->input);
    return error_set_at(error, KSV_ERROR_DATA, NULL, offset,
                        "the data at compressed byte %" PRIu64
                        ", after the last %s, is not gzip "
                        "(--trailing-garbage ignore leaves it out)",
                        offset, member_name(d));
}

static void begin_member(gzip_decoder *d)
{
    d->member_offset = gzip_input_offset(&d->input);
    d->member_bytes = 0;
    d->member_crc = 0;
    d->member_unchecked = false;
    gzip_header_begin(&d->header);
    d->phase = GZIP_IN_HEADER;
}

static ksv_status skip_padding(gzip_decoder *d, bool *at_end, ksv_error *error)
{
    bool enough = true;
    while (enough) {
        KSV_TRY(gzip_input_need(&d->input, 1, &enough, error));
        while (d->input.next < d->input.end && *d->input.next == 0)
            d->input.next++;
        if (d->input.next < d->input.end)
            break;
    }
    *at_end = !enough;
    return KSV_OK;
}

/* Waits for so many bytes, or the end of the file, unless nothing comes. */
static ksv_status wait_for(gzip_decoder *d, size_t size_bytes, bool *is_idle,
                           ksv_error *error)
{
    *is_idle = false;
    while (gzip_input_left(&d->input) < size_bytes && !d->input.at_end &&
           !*is_idle) {
        KSV_TRY(gzip_input_fill(&d->input, error));
        *is_idle = d->input.is_idle;
    }
    return KSV_OK;
}

static ksv_status between_members(gzip_decoder *d, ksv_error *error)
{
    if (d->members == 0) {
        begin_member(d);
        return KSV_OK;
    }
    bool at_end, enough;
    KSV_TRY(skip_padding(d, &at_end, error));
    if (at_end) {
        d->phase = GZIP_AT_END;
        return KSV_OK;
    }
    KSV_TRY(gzip_input_need(&d->input, 2, &enough, error));
    if (d->input.next[0] != GZIP_MAGIC_1 ||
        (enough && d->input.next[1] != GZIP_MAGIC_2))
        return meet_garbage(d, error);
    begin_member(d);
    return KSV_OK;
}

/* What of the header has come. */
static ksv_status read_header(gzip_decoder *d, ksv_error *error)
{
    gzip_header *h = &d->header;
    bool enough;
    KSV_TRY(gzip_input_need(&d->input, 1, &enough, error));
    if (!enough)
        return truncated(d, "the gzip header", error);
    d->input.next +=
        gzip_header_push(h, d->input.next, gzip_input_left(&d->input));
    if (h->state < GZIP_HEADER_COMPLETE)
        return KSV_OK;
    if (h->state == GZIP_HEADER_BAD)
        return error_set_at(error, KSV_ERROR_DATA, NULL, d->member_offset,
                            "the %s at compressed byte %" PRIu64 " %s",
                            member_name(d), d->member_offset, h->problem);
    uint8_t *out = d->inflate.out;
    inflate_source *sources = d->inflate.sources;
    inflate_begin(&d->inflate);
    d->inflate.sources = sources;
    d->inflate.out = out;
    d->inflate.history = out;
    inflate_set_input(&d->inflate, d->input.next, gzip_input_left(&d->input),
                      d->input.at_end, 0);
    d->checked = out;
    d->phase = GZIP_IN_BODY;
    return KSV_OK;
}

/* The checksum follows what was decoded. */
static ksv_status check_output(gzip_decoder *d, ksv_error *error)
{
    const size_t size = (size_t)(d->inflate.out - d->checked);
    if (d->sum != NULL)
        KSV_TRY(d->sum(d->sum_ctx, &d->member_crc, d->checked, size, error));
    else if (d->check_members)
        d->member_crc = crc32_update(d->member_crc, d->checked, size);
    d->member_bytes += size;
    d->content += size;
    d->input.cost.bytes_inflated += size;
    d->checked = d->inflate.out;
    return KSV_OK;
}

/* More of the input; `*is_idle`: none has come. A body of which all has come is
 * decoded to its end meanwhile: another member may be behind it. */
static ksv_status more_input(gzip_decoder *d, bool *is_idle, ksv_error *error)
{
    KSV_TRY(gzip_input_fill(&d->input, error));
    bool body_ends = false;
    if (d->input.is_idle)
        (void)gzip_peek(d, &body_ends);
    *is_idle = d->input.is_idle && !body_ends;
    inflate_move_input(&d->inflate, d->input.next, gzip_input_left(&d->input),
                       d->input.at_end || body_ends);
    return KSV_OK;
}

/* `*stopped` false: the member goes on, or its body has ended. */
static ksv_status run_body(gzip_decoder *d, uint64_t content_limit,
                           gzip_event *event, bool *stopped, ksv_error *error)
{
    uint8_t *piece_end = d->buffer + INFLATE_WINDOW_BYTES + d->piece_bytes;
    const size_t room =
        d->inflate.out < piece_end ? (size_t)(piece_end - d->inflate.out) : 0;
    *stopped = true;
    *event = GZIP_FULL;
    if (room == 0)
        return KSV_OK;
    uint8_t *limit = piece_end;
    if (content_limit <= d->content)
        limit = d->inflate.out;
    else if (content_limit - d->content < room)
        limit = d->inflate.out + (content_limit - d->content);
    const inflate_stop stop = inflate_run(&d->inflate, limit);
    d->input.next = d->inflate.in_next;
    KSV_TRY(check_output(d, error));
    switch (stop) {
    case INFLATE_BLOCK:
        *event = GZIP_BLOCK;
        return KSV_OK;
    case INFLATE_LIMIT:
        *event = d->content >= content_limit ? GZIP_LIMIT : GZIP_FULL;
        return KSV_OK;
    case INFLATE_INPUT:
        *event = GZIP_IDLE;
        return more_input(d, stopped, error);
    case INFLATE_END:
        *stopped = false;
        d->phase = GZIP_IN_TRAILER;
        return KSV_OK;
    case INFLATE_TRUNCATED:
        return truncated(d, "the compressed data", error);
    default:
        return damaged(d, d->inflate.problem, error);
    }
}

static ksv_status read_trailer(gzip_decoder *d, ksv_error *error)
{
    bool enough;
    KSV_TRY(gzip_input_need(&d->input, GZIP_TRAILER_BYTES, &enough, error));
    if (!enough)
        return truncated(d, "the checksum and length at its end", error);
    if (d->check_members && !d->member_unchecked) {
        if (load_u32(d->input.next) != d->member_crc)
            return wrong_trailer(d, "checksum", error);
        if (load_u32(d->input.next + 4) != (uint32_t)d->member_bytes)
            return wrong_trailer(d, "length", error);
    }
    d->input.next += GZIP_TRAILER_BYTES;
    d->data_end = gzip_input_offset(&d->input);
    d->ends_with_marker =
        d->header.bgzf_block_bytes != 0 && d->member_bytes == 0;
    d->members++;
    d->phase = GZIP_BETWEEN;
    return KSV_OK;
}

/* How many bytes the phase cannot do without. */
static size_t wanted_bytes(const gzip_decoder *d)
{
    switch (d->phase) {
    case GZIP_BETWEEN:
        return 2;
    case GZIP_IN_HEADER:
        return 1;
    case GZIP_IN_TRAILER:
        return GZIP_TRAILER_BYTES;
    default:
        return 0;
    }
}

static ksv_status run_phase(gzip_decoder *d, uint64_t content_limit,
                            gzip_event *event, bool *stopped, ksv_error *error)
{
    switch (d->phase) {
    case GZIP_BETWEEN:
        return between_members(d, error);
    case GZIP_IN_HEADER:
        *event = GZIP_MEMBER;
        KSV_TRY(read_header(d, error));
        *stopped = d->phase == GZIP_IN_BODY;
        return KSV_OK;
    case GZIP_IN_BODY:
        return run_body(d, content_limit, event, stopped, error);
    case GZIP_IN_TRAILER:
        return read_trailer(d, error);
    default:
        *event = GZIP_END;
        *stopped = true;
        return KSV_OK;
    }
}

ksv_status gzip_decoder_run(gzip_decoder *d, uint64_t content_limit,
                            gzip_event *event, ksv_error *error)
{
    bool stopped = false;
    *event = GZIP_IDLE;
    while (!stopped) {
        bool is_idle;
        KSV_TRY(wait_for(d, wanted_bytes(d), &is_idle, error));
        if (is_idle) {
            *event = GZIP_IDLE;
            return KSV_OK;
        }
        KSV_TRY(run_phase(d, content_limit, event, &stopped, error));
    }
    return KSV_OK;
}

void gzip_decoder_move_to(gzip_decoder *d, uint8_t *buffer)
{
    inflater *s = &d->inflate;
    const size_t held = (size_t)(s->out - d->buffer);
    const size_t kept =
        held < INFLATE_WINDOW_BYTES ? held : INFLATE_WINDOW_BYTES;
    const uint8_t *from = d->buffer + (held - kept);
    memmove(buffer, from, kept);
    s->history = s->history > from ? buffer + (s->history - from) : buffer;
    if (s->sources != NULL)
        s->window_end = buffer + (s->window_end - from);
    s->out = buffer + kept;
    d->checked = buffer + (d->checked - from);
    d->buffer = buffer;
}

void gzip_decoder_make_room(gzip_decoder *d)
{
    if ((size_t)(d->inflate.out - d->buffer) > INFLATE_WINDOW_BYTES)
        gzip_decoder_move_to(d, d->buffer);
}

const uint8_t *gzip_decoder_content(const gzip_decoder *d, uint64_t from)
{
    return d->inflate.out - (d->content - from);
}

uint64_t gzip_decoder_bit(const gzip_decoder *d)
{
    return d->input.end_offset * 8 - inflate_bits_left(&d->inflate);
}

uint8_t *gzip_decoder_window(gzip_decoder *d)
{
    return d->buffer;
}

/* Puts the inflater on a bit of the file and has enough there for a header. */
static ksv_status seek_bit(gzip_decoder *d, uint64_t bit, uint64_t wanted_end,
                           ksv_error *error)
{
    bool enough;
    gzip_input_seek(&d->input, bit / 8, wanted_end);
    KSV_TRY(gzip_input_need(&d->input, INFLATE_INPUT_WANTED, &enough, error));
    inflate_set_input(&d->inflate, d->input.next, gzip_input_left(&d->input),
                      d->input.at_end, (unsigned)(bit % 8));
    return KSV_OK;
}

static ksv_status seek_symbol(gzip_decoder *d, const gzip_place *place,
                              ksv_error *error)
{
    KSV_TRY(seek_bit(d, place->header_bit,
                     place->header_bit / 8 + BLOCK_HEADER_BYTES, error));
    const inflate_stop stop = inflate_read_header(&d->inflate);
    if (stop == INFLATE_TRUNCATED)
        return truncated(d, "the compressed data", error);
    if (stop != INFLATE_LIMIT)
        return damaged(d, d->inflate.problem, error);
    if (d->inflate.place != INFLATE_IN_CODED)
        return damaged(d, "it has changed", error);
    return seek_bit(d, place->symbol_bit, place->wanted_end, error);
}

ksv_status gzip_decoder_seek(gzip_decoder *d, const gzip_place *place,
                             size_t window_bytes, ksv_error *error)
{
    inflate_begin(&d->inflate);
    restart_output(d, window_bytes);
    d->phase = GZIP_IN_BODY;
    d->content = place->content;
    d->member_offset = place->member_offset;
    d->member_bytes = 0;
    d->member_crc = 0;
    d->member_unchecked = true;
    gzip_header_begin(&d->header);
    if (place->symbol_bit != place->header_bit)
        return seek_symbol(d, place, error);
    return seek_bit(d, place->header_bit, place->wanted_end, error);
}

void gzip_decoder_seek_member(gzip_decoder *d, uint64_t offset,
                              uint64_t content, uint64_t members)
{
    gzip_input_seek(&d->input, offset, UINT64_MAX);
    inflate_begin(&d->inflate);
    restart_output(d, 0);
    d->content = content;
    d->members = members;
    d->data_end = offset;
    d->phase = GZIP_BETWEEN;
}
