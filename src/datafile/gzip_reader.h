/* SPDX-License-Identifier: MIT */
/* Random access to the content of gzip and BGZF files by access points. */
#ifndef KSV_DATAFILE_GZIP_READER_H
#define KSV_DATAFILE_GZIP_READER_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "datafile/datafile.h"
#include "datafile/points_reader.h"

/* Safe to share between threads. It keeps a few places where reads have ended:
 * a read that begins not far behind one of them goes on there. */
typedef struct gzip_reader gzip_reader;

/* `file` is borrowed; takes ownership of `points`, also on failure. */
ksv_status gzip_reader_open(ksv_file *file, points_reader *points,
                            const ksv_allocator *allocator, gzip_reader **out,
                            ksv_error *error);
void gzip_reader_close(gzip_reader *reader);

/* As datafile_read_at(). All that is given out was checked against the CRC-32
 * of its chunk, so up to POINTS_CHUNK_BYTES more than asked for are inflated at
 * the end, and up to the spacing of the points before it. */
ksv_status gzip_reader_read_at(gzip_reader *reader, uint64_t offset,
                               void *buffer, size_t size_bytes,
                               size_t *got_bytes, datafile_cost *cost,
                               ksv_error *error);

#endif
