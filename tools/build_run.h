/* SPDX-License-Identifier: MIT */
/* What the verbs build and update share: options, files, the run itself. */
#ifndef KSV_TOOLS_BUILD_RUN_H
#define KSV_TOOLS_BUILD_RUN_H

#include <stdbool.h>

#include <keysieve/builder.h>

#include "byte_buffer.h"
#include "cli.h"
#include "progress.h"

typedef struct build_request {
    ksv_build_options options;
    progress_mode progress;
    const char *files_from;
    bool nul_ended; /* the names of `files_from` */
    /* Set by build_run_list_files(). */
    const char **files;
    size_t file_count;
    byte_buffer names;
    const char **patterns;
} build_request;

enum {
    BUILD_BAD_RECORDS = 400,
    BUILD_TRAILING_GARBAGE,
    BUILD_STRICT,
    BUILD_UNIQUE,
    BUILD_MEMORY,
    BUILD_FILES_FROM,
    BUILD_PROGRESS,
    BUILD_WAIT,
    BUILD_NO_MERGE,
    BUILD_COMPARE_GROWN
};

/* The options that both verbs have, for their tables. */
#define BUILD_RUN_OPTIONS                                                   \
    {BUILD_BAD_RECORDS, "bad-records", "HOW",                               \
     "fail (default), or skip: go "                                         \
     "on and count them"},                                                  \
        {BUILD_TRAILING_GARBAGE, "trailing-garbage", "HOW",                 \
         "after gzip data: fail (default) or ignore"},                      \
        {BUILD_STRICT, "strict", NULL, "a record without key is an error"}, \
        {BUILD_UNIQUE, "unique", NULL, "a key seen twice is an error"},     \
        {BUILD_MEMORY, "memory", "SIZE", "bound on memory (default 1G)"},   \
        {'j', "threads", "N", "default: all processors"},                   \
        {BUILD_NO_MERGE, "no-merge", NULL,                                  \
         "leave segments as they are written"},                             \
        {BUILD_FILES_FROM, "files-from", "FILE",                            \
         "more data files, one a line (-: stdin)"},                         \
        {'0', "null", NULL, "the names in FILE end with NUL"},              \
        {BUILD_PROGRESS, "progress", "WHEN",                                \
         "auto (default: on a terminal), always, never"},                   \
        {BUILD_COMPARE_GROWN, "compare-grown", NULL,                        \
         "read grown files whole, not samples"},                            \
        {BUILD_WAIT, "wait", "[SECONDS]",                                   \
         "until another build has ended, not fail"},                        \
    {                                                                       \
        CLI_QUIET, "quiet", NULL, "no progress, no report at the end"       \
    }

void build_request_open(build_request *request);
void build_request_close(build_request *request);

/* Adds the argument of --watch-pattern. */
void build_request_add_pattern(build_request *request, const char *pattern);

/* Takes one of the options above. Sets `*is_taken` false for any other. False
 * after a mistake. */
bool build_request_take(build_request *request, command_line *cli, int id,
                        const char *value, bool *is_taken);

/* Lists the files of the command line, then those of --files-from. False after
 * a message. */
bool build_request_list_files(build_request *request, command_line *cli);

/* ksv_build() or ksv_update(). */
typedef ksv_status (*build_fn)(const char *directory, const char *const *files,
                               size_t file_count,
                               const ksv_build_options *options,
                               ksv_build_report *report, ksv_error *error);

/* Runs it, with progress, messages and report; the exit status. */
int build_request_run(build_request *request, command_line *cli,
                      build_fn build);

#endif
