/* SPDX-License-Identifier: MIT */
/* Tells the caller of a build how far it has come. */
#ifndef KSV_BUILD_BUILD_PROGRESS_H
#define KSV_BUILD_BUILD_PROGRESS_H

#include <stdint.h>

#include <keysieve/builder.h>

typedef struct build_progress {
    ksv_progress_fn report; /* or NULL */
    void *ctx;
    ksv_progress now;
    uint64_t start_ns;
    uint64_t next_report_ns;
    uint64_t bytes_before_file;
} build_progress;

void build_progress_init(build_progress *progress, ksv_progress_fn report,
                         void *ctx);

void build_progress_begin_file(build_progress *progress, const char *file);
void build_progress_end_file(build_progress *progress, uint64_t file_bytes);

/* Reports if it is time to. KSV_ERROR_CANCELLED when the caller wants to stop.
 */
ksv_status build_progress_update(build_progress *progress, uint64_t file_bytes,
                                 ksv_error *error);

#endif
