/* SPDX-License-Identifier: MIT */
/* Check every byte of an index. */
#ifndef KEYSIEVE_VERIFY_H
#define KEYSIEVE_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/builder.h>
#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ksv_verify_options {
    /* Also read every data file and compare the index with what it holds. */
    bool data;
    ksv_problem_fn problem; /* told of each problem; or NULL */
    void *problem_ctx;
    ksv_progress_fn progress; /* or NULL */
    void *progress_ctx;
    const ksv_allocator *allocator;     /* or NULL */
    const ksv_file_system *file_system; /* or NULL */
} ksv_verify_options;

KSV_API void ksv_verify_options_init(ksv_verify_options *options);

typedef struct ksv_verify_report {
    uint64_t files_checked; /* sidecars and catalog files */
    uint64_t bytes_checked;
    uint64_t entries_checked;
    uint64_t records_compared;
    uint64_t problems;
} ksv_verify_report;

/* Returns KSV_OK when all is right; else the status of the first problem, after
 * looking at everything that could be looked at. */
KSV_API KSV_CHECK_RESULT ksv_status
ksv_verify(const char *directory, const ksv_verify_options *options,
           ksv_verify_report *report, ksv_error *error);

#ifdef __cplusplus
}
#endif

#endif
