/* SPDX-License-Identifier: MIT */
/* Writing access points to a sidecar (`.ksz`) as they come. */
#ifndef KSV_DATAFILE_POINTS_WRITER_H
#define KSV_DATAFILE_POINTS_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "datafile/datafile.h"
#include "datafile/points_format.h"

/* Keeps a page and the directory (16 bytes for 63 points) in memory. One thread
 * at a time. */
typedef struct points_writer points_writer;

/* Begins a sidecar in `file` (borrowed, open for appending and empty). */
ksv_status points_writer_open(ksv_file *file, datafile_kind kind,
                              const uint8_t id[POINTS_ID_BYTES],
                              uint64_t spacing_bytes,
                              const ksv_allocator *allocator,
                              points_writer **out, ksv_error *error);

/* How much content the points are to be apart. */
uint64_t points_writer_spacing(const points_writer *writer);

/* Adds a point after the ones before it, with points_entry_blob_bytes() bytes
 * of blob; blob_offset and blob_checksum of the entry are filled in. */
ksv_status points_writer_add(points_writer *writer, points_entry *entry,
                             const uint8_t *blob, ksv_error *error);

/* What the whole data file held, once it is known. */
void points_writer_set_totals(points_writer *writer, uint64_t content_bytes,
                              uint64_t members);

/* Completes the sidecar; `data_bytes` and `fingerprint` say of which file. It
 * is not synced. KSV_ERROR_ARGUMENT unless the pass has reached its end. */
ksv_status points_writer_finish(points_writer *writer, uint64_t data_bytes,
                                const uint8_t fingerprint[16],
                                ksv_error *error);

/* NULL is allowed. */
void points_writer_close(points_writer *writer);

#endif
