/* SPDX-License-Identifier: MIT */
/* What can be told of content whose compressed bytes have not all come. */
#include "datafile/gzip_peek.h"

size_t gzip_peek(const gzip_decoder *d, bool *body_ends)
{
    *body_ends = false;
    if (d->phase != GZIP_IN_BODY)
        return 0;
    inflater ahead = d->inflate;
    const uint8_t *room_end = d->buffer + INFLATE_WINDOW_BYTES + d->piece_bytes;
    const uint8_t *known_end = ahead.out;
    ahead.sources = NULL;
    inflate_move_input(&ahead, d->input.next, gzip_input_left(&d->input), true);
    /* Symbol by symbol: what comes of one that is cut off does not count. */
    while (known_end < room_end) {
        inflate_stop stop = inflate_run(&ahead, ahead.out + 1);
        *body_ends = stop == INFLATE_END;
        if (stop != INFLATE_LIMIT && stop != INFLATE_BLOCK)
            break;
        known_end = ahead.out;
    }
    return (size_t)(known_end - d->inflate.out);
}
