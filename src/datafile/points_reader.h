/* SPDX-License-Identifier: MIT */
/* Reading access points from a sidecar (`.ksz`), a page at a time. */
#ifndef KSV_DATAFILE_POINTS_READER_H
#define KSV_DATAFILE_POINTS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "base/memory.h"
#include "datafile/datafile.h"
#include "datafile/points_format.h"

/* What a sidecar says of itself and of its data file. */
typedef struct points_info {
    datafile_kind kind;
    uint8_t id[POINTS_ID_BYTES];
    uint64_t spacing_bytes;
    uint64_t content_bytes;
    uint64_t data_bytes;
    uint8_t fingerprint[16];
    uint64_t points;
    uint64_t members;
    uint64_t file_bytes;
} points_info;

/* Safe to share between threads. Nothing but header and footer is read before
 * the first search. Whatever the file holds, it is KSV_ERROR_CORRUPT or
 * KSV_ERROR_VERSION when it is not as a writer leaves it. */
typedef struct points_reader points_reader;

/* `id` is what the sidecar has to be called (NULL: anything). */
ksv_status points_reader_open(const ksv_file_system *fs, const char *path,
                              const uint8_t id[POINTS_ID_BYTES],
                              const ksv_allocator *allocator,
                              points_reader **out, ksv_error *error);
void points_reader_close(points_reader *reader);

const points_info *points_reader_info(const points_reader *reader);

/* A page that a thread has read last; all zero is none. */
typedef struct points_page {
    bool valid;
    uint64_t number;
    uint8_t bytes[POINTS_PAGE_BYTES];
} points_page;

/* The number of the point whose span holds `content`, an offset below
 * content_bytes. `cost` (may be NULL) is added to. */
ksv_status points_reader_find(points_reader *reader, points_page *page,
                              uint64_t content, uint64_t *number,
                              datafile_cost *cost, ksv_error *error);

/* The entry of a point; `number` is below the number of points. */
ksv_status points_reader_entry(points_reader *reader, points_page *page,
                               uint64_t number, points_entry *entry,
                               datafile_cost *cost, ksv_error *error);

/* The blob of an entry, in place of what `blob` held; its memory goes on for
 * INFLATE_INPUT_PADDING bytes. */
ksv_status points_reader_blob(points_reader *reader, const points_entry *entry,
                              byte_buffer *blob, datafile_cost *cost,
                              ksv_error *error);

/* Reads and checks all of it. */
ksv_status points_reader_verify(points_reader *reader, ksv_error *error);

#endif
