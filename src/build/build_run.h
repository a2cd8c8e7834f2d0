/* SPDX-License-Identifier: MIT */
/* The state of one build, and the steps that it goes through. */
#ifndef KSV_BUILD_BUILD_RUN_H
#define KSV_BUILD_BUILD_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include <keysieve/builder.h>

#include "build/build_plan.h"
#include "build/build_progress.h"
#include "catalog/catalog.h"
#include "scan/scan_spec.h"
#include "segment/state_data.h"

typedef struct build_run {
    ksv_allocator allocator;
    const ksv_file_system *fs;
    ksv_build_options options;
    const char *directory; /* of the index, as given */
    char *real_directory;
    catalog *catalog;
    catalog_state state;
    bool has_state;
    scan_spec *spec;
    build_plan plan;
    build_progress progress;
    ksv_build_report *report;
    bool dirty;              /* the state differs from what is committed */
    ksv_error first_failure; /* of a file; status KSV_OK: none */
    uint64_t first_new_id;   /* of sidecars of this run */
    state_data data;         /* what tables of the index may read */
    uint64_t *new_ids;       /* those that were written and not committed */
    size_t new_id_count;
    size_t new_id_capacity;
} build_run;

/* Tells the caller of the build about a problem. */
void build_run_tell(build_run *run, const ksv_error *problem, bool is_warning);

/* Settles format, key, hash and rate: those of the index, or for a new one
 * those of the options. KSV_ERROR_MISMATCH when they contradict each other. */
ksv_status build_parameters_settle(build_run *run, ksv_error *error);

/* Does what the plan says, file by file; keeps the failures of files. */
ksv_status build_run_files(build_run *run, ksv_error *error);

/* The sums of the report over all files, and the keys that the files of this
 * run have together. */
ksv_status build_run_sum_up(build_run *run, ksv_error *error);

/* The sums over all segments. */
void build_run_sum_segments(build_run *run);

/* Whether the index on disk is that of `generation` (0: there is none), so that
 * what was written for a later one is of no use. */
bool build_run_is_at(const build_run *run, uint64_t generation);

/* Where the sidecars of the run's index lie. */
segment_place build_run_place(build_run *run);

#endif
