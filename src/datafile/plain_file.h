/* SPDX-License-Identifier: MIT */
/* Data files whose content is their bytes. */
#ifndef KSV_DATAFILE_PLAIN_FILE_H
#define KSV_DATAFILE_PLAIN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "datafile/datafile.h"

/* Read in pieces that stay in the cache of a core, but not smaller: as many
 * calls as 4 KiB pieces would take cost more than the copying. */
#define PLAIN_PIECE_BYTES ((size_t)1 << 18)

/* One pass over a file, which is borrowed. All zero is one without a buffer. */
typedef struct plain_stream {
    ksv_file *file;
    uint8_t *piece;
    uint64_t offset; /* of the next piece */
    bool at_end;
} plain_stream;

ksv_status plain_stream_open(plain_stream *stream, ksv_file *file,
                             const ksv_allocator *allocator, ksv_error *error);
/* As datafile_stream_next(). */
ksv_status plain_stream_next(plain_stream *stream, const uint8_t **data,
                             size_t *size_bytes, bool *last, ksv_error *error);
void plain_stream_close(plain_stream *stream, const ksv_allocator *allocator);

/* As datafile_read_at(). */
ksv_status plain_read_at(ksv_file *file, uint64_t offset, void *buffer,
                         size_t size_bytes, size_t *got_bytes,
                         datafile_cost *cost, ksv_error *error);

#endif
