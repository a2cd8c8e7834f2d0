/* SPDX-License-Identifier: MIT */
/* The members of a gzip file, decoded in steps through a sliding buffer. */
#ifndef KSV_DATAFILE_GZIP_DECODER_H
#define KSV_DATAFILE_GZIP_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "compress/inflate.h"
#include "datafile/gzip_header.h"
#include "datafile/gzip_input.h"

/* Why a step has ended. */
typedef enum gzip_event {
    GZIP_MEMBER, /* a header was read: before the first block of a member */
    GZIP_BLOCK,  /* before another block of it */
    GZIP_LIMIT,  /* the limit of the content is reached, between two symbols */
    GZIP_FULL,   /* the buffer is full */
    GZIP_IDLE,   /* nothing has come for a while of what is to be decoded */
    GZIP_END     /* nothing follows */
} gzip_event;

typedef enum gzip_phase {
    GZIP_BETWEEN, /* before a member, padding or the end */
    GZIP_IN_HEADER,
    GZIP_IN_BODY,
    GZIP_IN_TRAILER,
    GZIP_AT_END
} gzip_phase;

/* Makes `*crc`, which is of the member's content so far, that of the content
 * with `data` after it. */
typedef ksv_status (*gzip_sum_fn)(void *ctx, uint32_t *crc, const uint8_t *data,
                                  size_t size_bytes, ksv_error *error);

/* One thread at a time. Members without a comment are for nobody else. */
typedef struct gzip_decoder {
    ksv_allocator allocator;
    gzip_input input;
    inflater inflate;
    gzip_header header;
    gzip_phase phase;
    uint8_t *buffer; /* its own, or another's: see gzip_decoder_move_to() */
    uint8_t *own_buffer;
    size_t piece_bytes;
    const uint8_t *checked; /* the member's checksum covers what is before */
    uint64_t content;       /* offset in the content, of inflate.out */
    size_t given_ahead;     /* bytes from there on that were given already */
    uint64_t member_offset; /* in the file, where the member begins */
    uint64_t member_bytes;  /* of content, so far */
    uint32_t member_crc;
    bool member_unchecked; /* begun in its middle */
    uint64_t members;      /* that have ended */
    /* Set these after opening. */
    bool is_bgzf; /* for messages: what members are called */
    bool ignore_trailing_garbage;
    bool check_members; /* their checksums and lengths */
    gzip_sum_fn sum;    /* NULL, or makes the checksums */
    void *sum_ctx;
    /* Ask these at the end. */
    bool garbage_ignored;
    bool ends_with_marker; /* the last member is an empty BGZF block */
    uint64_t data_end;     /* where the last member ends */
} gzip_decoder;

/* A decoder at the start of `file` (borrowed), of which it reads up to
 * `input_bytes` at once, and gives up to `piece_bytes` of content at once. */
ksv_status gzip_decoder_open(gzip_decoder *d, ksv_file *file,
                             size_t input_bytes, size_t piece_bytes,
                             const ksv_allocator *allocator, ksv_error *error);
void gzip_decoder_close(gzip_decoder *d);

/* Decodes until something in gzip_event happens; a `content_limit` that is
 * reached already is no obstacle to GZIP_MEMBER. KSV_ERROR_DATA has the offset
 * in the file of the member that is damaged, or of what follows the last. */
ksv_status gzip_decoder_run(gzip_decoder *d, uint64_t content_limit,
                            gzip_event *event, ksv_error *error);

/* Makes the buffer empty but for a window, so that at least piece_bytes fit
 * after it: what it held moves or goes. */
void gzip_decoder_make_room(gzip_decoder *d);

/* The same, into another buffer of gzip_decoder_buffer_bytes() bytes, which is
 * borrowed until the decoder moves on or is closed. The one before is not
 * changed, but for its being the same. */
void gzip_decoder_move_to(gzip_decoder *d, uint8_t *buffer);
size_t gzip_decoder_buffer_bytes(const gzip_decoder *d);

/* Content from offset `from` (no more than the buffer holds) to
 * `d->content`. */
const uint8_t *gzip_decoder_content(const gzip_decoder *d, uint64_t from);

/* In bits of the file, what comes next. */
uint64_t gzip_decoder_bit(const gzip_decoder *d);

/* A place inside a member: see points_entry. */
typedef struct gzip_place {
    uint64_t content;
    uint64_t header_bit;
    uint64_t symbol_bit;
    uint64_t member_offset;
    uint64_t wanted_end; /* in the file: as far as reading ahead pays */
} gzip_place;

/* Goes on at `place`. The window before it is in the first `window_bytes` bytes
 * of gzip_decoder_window(). */
ksv_status gzip_decoder_seek(gzip_decoder *d, const gzip_place *place,
                             size_t window_bytes, ksv_error *error);
uint8_t *gzip_decoder_window(gzip_decoder *d);

/* Goes on at `offset` of the file, after `members` members with `content` bytes
 * of content. */
void gzip_decoder_seek_member(gzip_decoder *d, uint64_t offset,
                              uint64_t content, uint64_t members);

#endif
