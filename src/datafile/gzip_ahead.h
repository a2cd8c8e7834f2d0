/* SPDX-License-Identifier: MIT */
/* One pass over a gzip file that a thread of its own inflates, some pieces
 * ahead. */
#ifndef KSV_DATAFILE_GZIP_AHEAD_H
#define KSV_DATAFILE_GZIP_AHEAD_H

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "datafile/gzip_piece.h"

/* Pieces, and where which error comes, are those of gzip_piece_decode() in
 * turn. One thread at a time may use it. */
typedef struct gzip_ahead gzip_ahead;

/* Borrows `d`, at the start of its file, and `points` (may be NULL): both are
 * the thread's until the end. KSV_ERROR_MEMORY, also when no thread can be
 * had, leaves them as they were. */
ksv_status gzip_ahead_open(gzip_decoder *d, gzip_points *points,
                           const ksv_allocator *allocator, gzip_ahead **out,
                           ksv_error *error);

/* The next piece, whose data is valid until the next call. Of a failure or the
 * last piece there is more of the same. */
ksv_status gzip_ahead_next(gzip_ahead *ahead, gzip_piece *piece,
                           ksv_error *error);

/* Ends the thread, which inflates one piece more at most. The decoder can then
 * only be closed. NULL is allowed. */
void gzip_ahead_close(gzip_ahead *ahead);

#endif
