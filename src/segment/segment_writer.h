/* SPDX-License-Identifier: MIT */
/* Writes the sidecars of a segment from sorted entries. */
#ifndef KSV_SEGMENT_SEGMENT_WRITER_H
#define KSV_SEGMENT_SEGMENT_WRITER_H

#include "catalog/catalog.h"
#include "io/publish_queue.h"
#include "segment/segment.h"
#include "sort/entry_sorter.h"
#include "table/table_writer.h"

/* The sidecars of a segment, written but not published. */
typedef struct segment_files {
    atomic_file *filter;
    atomic_file *table;
    atomic_file *points; /* NULL: the data file needs none */
} segment_files;

/* Writes filter and table of the entries of `sorter`, which is finished and
 * used up by this. `payload_limit` is above every payload. `segment` has its
 * id; its sizes, counts and filter are filled in, but not its parts. The files
 * become members of `*files`, which are to be published or abandoned, on
 * failure too. */
ksv_status segment_write(const segment_place *place, entry_sorter *sorter,
                         uint64_t payload_limit, catalog_segment *segment,
                         segment_files *files, uint64_t *distinct_keys,
                         ksv_error *error);

/* Begins the table of `segment`, which has its id and payload bits: the file
 * becomes a member of `*files`. */
ksv_status segment_open_table_writer(const segment_place *place,
                                     const catalog_segment *segment,
                                     segment_files *files,
                                     ksv_table_writer **writer,
                                     ksv_error *error);

/* Writes the filter of a segment whose table, in `files`, is written and has
 * `hashes` distinct ones. */
ksv_status segment_write_filter(const segment_place *place, uint64_t hashes,
                                catalog_segment *segment, segment_files *files,
                                ksv_error *error);

/* Writes the filter of a segment that has `keys` keys, whose hashes, each at
 * least once, are the entries of `hashes`, which is finished and used up. */
ksv_status segment_write_filter_of(const segment_place *place,
                                   entry_sorter *hashes, uint64_t keys,
                                   catalog_segment *segment,
                                   segment_files *files, ksv_error *error);

/* Begins the table of `segment` as a file that is a member of `*files`. */
ksv_status segment_create_table(const segment_place *place,
                                const catalog_segment *segment,
                                segment_files *files, ksv_error *error);

/* Hands all files over to be published; on failure what is left of them is to
 * be abandoned. */
ksv_status segment_files_publish(segment_files *files, publish_queue *queue,
                                 ksv_error *error);
void segment_files_abandon(segment_files *files);

/* Removes the sidecars with a number that no catalog names. */
void segment_remove(const segment_place *place, uint64_t id);

#endif
