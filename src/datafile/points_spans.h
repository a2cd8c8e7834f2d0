/* SPDX-License-Identifier: MIT */
/* Spans of access points on their way from the thread that inflates to the one
 * that writes them: what takes time but no inflater is left to the latter. */
#ifndef KSV_DATAFILE_POINTS_SPANS_H
#define KSV_DATAFILE_POINTS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "base/memory.h"
#include "compress/inflate.h"
#include "datafile/points_format.h"
#include "datafile/points_writer.h"

/* Spans in the order of the file. One thread at a time. */
typedef struct points_spans {
    byte_buffer bytes;
    bool complete; /* the last span of the file was added, and it held: */
    uint64_t content_bytes;
    uint64_t members;
} points_spans;

void points_spans_init(points_spans *spans, const ksv_allocator *allocator);
void points_spans_release(points_spans *spans);

/* What a point keeps of the content before it. */
typedef struct points_window {
    const uint8_t *data;
    size_t size_bytes;
    /* Only the parts that copies have read, or with `whole` all of it. */
    const inflate_source *sources;
    size_t source_count;
    bool whole;
} points_window;

/* Adds a span, whose entry says everything but of its window and blob, with the
 * CRCs of its chunks after the first. */
ksv_status points_spans_add(points_spans *spans, const points_entry *entry,
                            const points_window *window,
                            const byte_buffer *crcs, ksv_error *error);

/* Thins windows out, deflates them and writes. One thread at a time. */
typedef struct points_finisher points_finisher;

/* `writer` is borrowed. */
ksv_status points_finisher_open(points_writer *writer,
                                const ksv_allocator *allocator,
                                points_finisher **out, ksv_error *error);
/* NULL is allowed. */
void points_finisher_close(points_finisher *finisher);

/* Writes the spans, which follow those before; none are left then, also on
 * failure. */
ksv_status points_finisher_write(points_finisher *finisher, points_spans *spans,
                                 ksv_error *error);

#endif
