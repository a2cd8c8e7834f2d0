/* SPDX-License-Identifier: MIT */
/* Tells the caller of a build how far it has come. */
#include "build/build_progress.h"

#include <string.h>

#include "base/error.h"
#include "io/file.h"

#define REPORT_INTERVAL_NS 100000000u

ksv_status build_progress_init(build_progress *progress, ksv_progress_fn report,
                               void *ctx, ksv_error *error)
{
    memset(progress, 0, sizeof *progress);
    KSV_TRY(mutex_init(&progress->lock, error));
    progress->report = report;
    progress->ctx = ctx;
    progress->now.file = "";
    progress->start_ns = clock_monotonic_ns();
    progress->next_report_ns = progress->start_ns;
    return KSV_OK;
}

void build_progress_release(build_progress *progress)
{
    mutex_release(&progress->lock);
}

void build_progress_expect(build_progress *progress, size_t files,
                           uint64_t bytes)
{
    mutex_lock(&progress->lock);
    progress->now.files_total = files;
    progress->now.bytes_total = bytes;
    mutex_unlock(&progress->lock);
}

void build_progress_end_file(build_progress *progress, uint64_t bytes)
{
    mutex_lock(&progress->lock);
    progress->now.bytes_done += bytes;
    progress->now.files_done++;
    mutex_unlock(&progress->lock);
}

void build_progress_stop(build_progress *progress)
{
    mutex_lock(&progress->lock);
    progress->stopped = true;
    mutex_unlock(&progress->lock);
}

/* Called with the lock, so that reports never meet. */
static void report_if_due(build_progress *progress)
{
    if (progress->report == NULL || progress->stopped)
        return;
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns < progress->next_report_ns)
        return;
    progress->next_report_ns = now_ns + REPORT_INTERVAL_NS;
    progress->now.elapsed_ns = now_ns - progress->start_ns;
    progress->stopped = !progress->report(progress->ctx, &progress->now);
}

ksv_status build_progress_now(build_progress *progress, const char *file,
                              ksv_error *error)
{
    mutex_lock(&progress->lock);
    progress->next_report_ns = 0;
    mutex_unlock(&progress->lock);
    return build_progress_add(progress, file, 0, 0, error);
}

ksv_status build_progress_add(build_progress *progress, const char *file,
                              uint64_t bytes, uint64_t records,
                              ksv_error *error)
{
    mutex_lock(&progress->lock);
    progress->now.file = file;
    progress->now.bytes_done += bytes;
    progress->now.records += records;
    report_if_due(progress);
    bool stopped = progress->stopped;
    mutex_unlock(&progress->lock);
    if (stopped)
        return error_set(error, KSV_ERROR_CANCELLED, NULL, "stopped");
    return KSV_OK;
}
