/* SPDX-License-Identifier: MIT */
/* One data file -> the sidecars of its segment. */
#ifndef KSV_BUILD_FILE_BUILDER_H
#define KSV_BUILD_FILE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/builder.h>

#include "build/build_plan.h"
#include "build/build_progress.h"
#include "catalog/catalog.h"
#include "scan/scan_spec.h"
#include "segment/segment.h"

/* Shared by all files of a build. Borrowed members. */
typedef struct file_builder {
    segment_place place;
    const scan_spec *spec;
    const ksv_build_options *options;
    build_progress *progress;
    /* Of the index; `hash_bits` 0 is set when the first key is met. */
    catalog_parameters *parameters;
    /* Bytes of all files to be indexed, and of those indexed so far: to guess
     * the number of keys of the whole from the first file. */
    uint64_t total_bytes;
} file_builder;

/* What came of a file. */
typedef struct built_file {
    catalog_file file;          /* owns its strings; ordinal is not filled */
    catalog_segment segment;    /* when file.segment_id is not 0 */
    uint64_t first_without_key; /* offset, or KSV_NO_OFFSET */
    uint64_t first_bad;
    unsigned warnings; /* DATAFILE_NO_END_MARKER and the like */
    /* The failure is that of the data file: others can go on. */
    bool failed_alone;
} built_file;

/* Indexes `planned` as segment `segment_id`. On failure nothing stays. */
ksv_status file_builder_run(file_builder *builder, const planned_file *planned,
                            uint64_t segment_id, built_file *out,
                            ksv_error *error);

#endif
