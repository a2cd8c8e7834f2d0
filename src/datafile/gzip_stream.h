/* SPDX-License-Identifier: MIT */
/* One pass over the content of a gzip or BGZF file. */
#ifndef KSV_DATAFILE_GZIP_STREAM_H
#define KSV_DATAFILE_GZIP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "datafile/datafile.h"
#include "datafile/points_reader.h"
#include "datafile/points_writer.h"

typedef struct gzip_stream gzip_stream;

/* `file` is borrowed and begins with the first two bytes of a gzip member. */
ksv_status gzip_stream_open(ksv_file *file, const ksv_allocator *allocator,
                            gzip_stream **out, ksv_error *error);
void gzip_stream_close(gzip_stream *stream);

/* DATAFILE_BGZF when the first member is a BGZF block. */
datafile_kind gzip_stream_kind(const gzip_stream *stream);

/* As datafile_stream_configure() and datafile_stream_next(). */
ksv_status gzip_stream_configure(gzip_stream *stream,
                                 const datafile_stream_options *options,
                                 ksv_error *error);
ksv_status gzip_stream_next(gzip_stream *stream, const uint8_t **data,
                            size_t *size_bytes, bool *last, ksv_error *error);

/* After gzip_stream_configure(), which was told of it: begins as `resume` says,
 * by `known`; `writer` (or NULL) is that of the options. */
ksv_status gzip_stream_resume(gzip_stream *stream, points_reader *known,
                              const datafile_resume *resume,
                              points_writer *writer, ksv_error *error);

uint64_t gzip_stream_content_bytes(const gzip_stream *stream);
uint64_t gzip_stream_disk_bytes(const gzip_stream *stream);
unsigned gzip_stream_warnings(const gzip_stream *stream);

#endif
