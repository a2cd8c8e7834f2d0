/* SPDX-License-Identifier: MIT */
/* Tells the caller of a build how far it has come. */
#ifndef KSV_BUILD_BUILD_PROGRESS_H
#define KSV_BUILD_BUILD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/builder.h>

#include "base/mutex.h"

/* Shared by the threads of a build. */
typedef struct build_progress {
    ksv_progress_fn report; /* or NULL */
    void *ctx;
    mutex lock; /* of all below */
    ksv_progress now;
    uint64_t start_ns;
    uint64_t next_report_ns;
    bool stopped;
} build_progress;

ksv_status build_progress_init(build_progress *progress, ksv_progress_fn report,
                               void *ctx, ksv_error *error);
void build_progress_release(build_progress *progress);

/* How much there is to be done. */
void build_progress_expect(build_progress *progress, size_t files,
                           uint64_t bytes);

/* Adds what was done, of which `file` is the last. Reports if it is time to.
 * KSV_ERROR_CANCELLED when the caller wants to stop, or the build has to. */
ksv_status build_progress_add(build_progress *progress, const char *file,
                              uint64_t bytes, uint64_t records,
                              ksv_error *error);

/* Reports at once that something else begins. */
ksv_status build_progress_now(build_progress *progress, const char *file,
                              ksv_error *error);

/* A file is done, or given up; `bytes` of it were not added yet. */
void build_progress_end_file(build_progress *progress, uint64_t bytes);

/* Makes all threads stop at their next step. */
void build_progress_stop(build_progress *progress);

#endif
