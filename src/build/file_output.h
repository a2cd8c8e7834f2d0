/* SPDX-License-Identifier: MIT */
/* The sidecars of one data file that need no table of their own. */
#ifndef KSV_BUILD_FILE_OUTPUT_H
#define KSV_BUILD_FILE_OUTPUT_H

#include "build/file_builder.h"
#include "datafile/datafile.h"
#include "datafile/points_writer.h"
#include "io/buffer_file.h"
#include "segment/segment_collector.h"

/* Borrowed members, but for the points. */
typedef struct file_output {
    const file_builder *builder;
    const file_means *means;
    built_file *out;
    bool is_small;            /* its access points fit into memory */
    points_writer *points;    /* when the data file is compressed */
    buffer_file points_bytes; /* of a file that is written at once */
} file_output;

void file_output_init(file_output *output, const file_builder *builder,
                      const file_means *means, built_file *out, bool is_small);
void file_output_close(file_output *output);

/* Begins the access points, for a pass over the data file. */
ksv_status file_output_open_points(file_output *output, datafile_kind kind,
                                   ksv_error *error);
/* Completes them, when there are any; `out->file` has the size and fingerprint
 * of the data file, and gets the facts of its points. */
ksv_status file_output_finish_points(file_output *output, ksv_error *error);

/* Whether so many entries stay in memory for a table of many files. */
bool file_output_collects(const file_output *output, uint64_t entries);

/* Keeps the entries of `collector`, all `count` of them and at least one, in
 * order of their hashes, and writes their filter, which `*extent` gets with the
 * numbers of entries and keys. */
ksv_status file_output_keep(file_output *output, segment_collector *collector,
                            uint64_t count, catalog_extent *extent,
                            ksv_error *error);

#endif
