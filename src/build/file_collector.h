/* SPDX-License-Identifier: MIT */
/* Collects the entries of many small data files for one segment. */
#ifndef KSV_BUILD_FILE_COLLECTOR_H
#define KSV_BUILD_FILE_COLLECTOR_H

#include "build/file_builder.h"

/* From so many small files on they are worth a segment together: as many would
 * be merged anyway. */
#define COLLECTOR_LEAST_FILES 16

/* Files up to this size are small, unless they have too many records. */
#define COLLECTOR_FILE_BYTES ((uint64_t)16 << 20)

/* One thread at a time. */
typedef struct file_collector file_collector;

/* `builder` is borrowed. The segment will have the number `id`. Beyond
 * `memory_bytes` entries are spilled. */
ksv_status file_collector_open(const file_builder *builder, uint64_t id,
                               uint64_t memory_bytes, uint64_t expected_bytes,
                               file_collector **out, ksv_error *error);
/* NULL is allowed. */
void file_collector_close(file_collector *collector);

/* Takes the entries of a built file that are to be collected; its ordinal is
 * above those before it. */
ksv_status file_collector_add(file_collector *collector, built_file *built,
                              uint64_t ordinal, ksv_error *error);

/* Writes the segment. Without any entry `out->id` is 0 then. The files are to
 * be published or abandoned, on failure too; `out` owns its parts. */
ksv_status file_collector_finish(file_collector *collector,
                                 catalog_segment *out, segment_files *files,
                                 ksv_error *error);

#endif
