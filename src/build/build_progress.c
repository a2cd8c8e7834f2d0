/* SPDX-License-Identifier: MIT */
/* Tells the caller of a build how far it has come. */
#include "build/build_progress.h"

#include <string.h>

#include "base/error.h"
#include "io/file.h"

#define REPORT_INTERVAL_NS 100000000u

void build_progress_init(build_progress *progress, ksv_progress_fn report,
                         void *ctx)
{
    memset(progress, 0, sizeof *progress);
    progress->report = report;
    progress->ctx = ctx;
    progress->now.file = "";
    progress->start_ns = clock_monotonic_ns();
    progress->next_report_ns = progress->start_ns;
}

void build_progress_begin_file(build_progress *progress, const char *file)
{
    progress->now.file = file;
}

void build_progress_end_file(build_progress *progress, uint64_t file_bytes)
{
    progress->bytes_before_file += file_bytes;
    progress->now.bytes_done = progress->bytes_before_file;
    progress->now.files_done++;
}

ksv_status build_progress_update(build_progress *progress, uint64_t file_bytes,
                                 ksv_error *error)
{
    if (progress->report == NULL)
        return KSV_OK;
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns < progress->next_report_ns)
        return KSV_OK;
    progress->next_report_ns = now_ns + REPORT_INTERVAL_NS;
    progress->now.bytes_done = progress->bytes_before_file + file_bytes;
    progress->now.elapsed_ns = now_ns - progress->start_ns;
    if (!progress->report(progress->ctx, &progress->now))
        return error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    return KSV_OK;
}
