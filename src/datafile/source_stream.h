/* SPDX-License-Identifier: MIT */
/* Plain content of a source that can be read once, such as a pipe. */
#ifndef KSV_DATAFILE_SOURCE_STREAM_H
#define KSV_DATAFILE_SOURCE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>

#include "io/sequential_file.h"

/* All zero is one without memory. */
typedef struct source_stream {
    sequential_read_fn read; /* NULL: no source */
    void *ctx;
    uint8_t *piece;
    size_t head_bytes; /* in `piece`, read when it was opened */
    bool at_end;
} source_stream;

/* Reads as many bytes as it takes to tell a compressed content: no more than
 * what has come, where that is enough. To be closed in every case. */
ksv_status source_stream_open(source_stream *stream, sequential_read_fn read,
                              void *ctx, const ksv_allocator *allocator,
                              ksv_error *error);

/* The next piece as soon as there are bytes; it may be empty. */
ksv_status source_stream_next(source_stream *stream, const uint8_t **data,
                              size_t *size_bytes, bool *last, ksv_error *error);

void source_stream_close(source_stream *stream, const ksv_allocator *allocator);

#endif
