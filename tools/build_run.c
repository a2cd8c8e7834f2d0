/* SPDX-License-Identifier: MIT */
/* What the verbs build and update share: options, files, the run itself. */
#include "build_run.h"

#include <stdlib.h>
#include <string.h>

#include "build_report.h"
#include "interrupt.h"
#include "keylist.h"
#include "message.h"

void build_request_open(build_request *request)
{
    *request = (build_request){0};
    ksv_build_options_init(&request->options);
}

void build_request_close(build_request *request)
{
    free(request->files);
    free(request->patterns);
    byte_buffer_free(&request->names);
}

static bool take_threads(ksv_build_options *options, command_line *cli,
                         const char *value)
{
    uint64_t threads;
    if (!cli_parse_number(cli, "--threads", value, 1, 1024, &threads))
        return false;
    options->threads = (unsigned)threads;
    return true;
}

static bool take_progress(build_request *request, command_line *cli,
                          const char *value)
{
    int choice;
    if (!cli_parse_choice(cli, "--progress", value, "auto,always,never",
                          &choice))
        return false;
    request->progress = (progress_mode)choice;
    return true;
}

static bool take_wait(ksv_build_options *options, command_line *cli,
                      const char *value)
{
    uint64_t seconds = 0;
    options->wait_ns = UINT64_MAX;
    if (value == NULL)
        return true;
    if (!cli_parse_number(cli, "--wait", value, 0, 1000000000, &seconds))
        return false;
    options->wait_ns = seconds * 1000000000;
    return true;
}

void build_request_add_pattern(build_request *request, const char *pattern)
{
    size_t count = request->options.watch_pattern_count++;
    request->patterns = resize_memory(request->patterns, count + 1,
                                      sizeof request->patterns[0]);
    request->patterns[count] = pattern;
    request->options.watch_patterns = request->patterns;
}

static bool take_files_from(build_request *request, command_line *cli,
                            const char *value)
{
    if (request->files_from != NULL)
        return cli_fail(cli, "--files-from was given twice");
    request->files_from = value;
    return true;
}

bool build_request_take(build_request *request, command_line *cli, int id,
                        const char *value, bool *is_taken)
{
    ksv_build_options *options = &request->options;
    *is_taken = true;
    switch (id) {
    case BUILD_BAD_RECORDS:
        return cli_parse_switch(cli, "--bad-records", value, "fail,skip",
                                &options->skip_bad_records);
    case BUILD_TRAILING_GARBAGE:
        return cli_parse_switch(cli, "--trailing-garbage", value, "fail,ignore",
                                &options->ignore_trailing_garbage);
    case BUILD_STRICT:
        options->strict = true;
        return true;
    case BUILD_UNIQUE:
        options->unique = true;
        return true;
    case BUILD_MEMORY:
        return cli_parse_size(cli, "--memory", value, &options->memory_bytes);
    case 'j':
        return take_threads(options, cli, value);
    case BUILD_NO_MERGE:
        options->no_merge = true;
        return true;
    case BUILD_FILES_FROM:
        return take_files_from(request, cli, value);
    case '0':
        request->nul_ended = true;
        return true;
    case BUILD_PROGRESS:
        return take_progress(request, cli, value);
    case BUILD_COMPARE_GROWN:
        options->compare_grown = true;
        return true;
    case BUILD_WAIT:
        return take_wait(options, cli, value);
    case CLI_INDEX:
    case CLI_QUIET:
    case CLI_ARGUMENT:
        return true;
    default:
        *is_taken = false;
        return true;
    }
}

static bool has_nul(const ksv_key *word)
{
    return word->bytes > 0 && memchr(word->data, '\0', word->bytes) != NULL;
}

/* Copies the words, each with a NUL behind it. */
static bool copy_names(build_request *request, const keylist *list)
{
    size_t *offsets = resize_memory(NULL, list->count, sizeof *offsets);
    bool good = true;
    for (size_t i = 0; i < list->count && good; i++) {
        good = !has_nul(&list->words[i]);
        offsets[i] = request->names.used_bytes;
        byte_buffer_add(&request->names, list->words[i].data,
                        list->words[i].bytes);
        byte_buffer_add(&request->names, "", 1);
    }
    request->files = resize_memory(NULL, list->count, sizeof request->files[0]);
    for (size_t i = 0; i < list->count && good; i++)
        request->files[i] = request->names.data + offsets[i];
    request->file_count = list->count;
    free(offsets);
    if (!good)
        message_text("%s: a file name with a NUL byte: are they NUL separated "
                     "(-0)?",
                     request->files_from);
    return good;
}

static bool check_names(const build_request *request, command_line *cli)
{
    for (size_t i = 0; i < request->file_count; i++) {
        if (request->files[i][0] == '\0')
            return cli_fail(cli, "an empty file name");
    }
    return true;
}

bool build_request_list_files(build_request *request, command_line *cli)
{
    keylist list;
    keylist_source source = {
        .arguments = cli->arguments,
        .argument_count = cli->argument_count,
        .file = request->files_from,
        .nul_ended = request->nul_ended,
        .one_batch = true,
    };
    if (request->nul_ended && request->files_from == NULL)
        return cli_fail(cli, "-0 goes with --files-from only");
    cli->status = 2;
    bool good = keylist_open(&list, &source) && keylist_next(&list) &&
                copy_names(request, &list) && check_names(request, cli);
    keylist_close(&list);
    return good;
}

/* What has been told while the build ran. */
typedef struct told_problems {
    command_line *cli;
    ksv_error first; /* the first error */
    bool has_first;
} told_problems;

static void tell_problem(void *ctx, const ksv_error *problem, bool is_warning)
{
    told_problems *told = ctx;
    if (is_warning) {
        message_problem(problem, true);
        return;
    }
    message_error(problem, told->cli->index_hint);
    if (!told->has_first)
        told->first = *problem;
    told->has_first = true;
}

/* The library hands the first failure of a file up as well. */
static bool is_told(const told_problems *told, const ksv_error *error)
{
    return told->has_first && strcmp(told->first.path, error->path) == 0 &&
           strcmp(told->first.text, error->text) == 0 &&
           told->first.byte_offset == error->byte_offset;
}

static int finish(const told_problems *told, ksv_status status,
                  const ksv_error *error, bool is_committed)
{
    if (status == KSV_OK)
        return 0;
    if (status == KSV_ERROR_CANCELLED && interrupt_signal() != 0) {
        message_text(is_committed ? "stopped while segments were merged; the "
                                    "index has all that was indexed"
                                  : "stopped; the index is as it was before");
        return 128 + interrupt_signal();
    }
    if (!is_told(told, error))
        message_error(error, told->cli->index_hint);
    return 2;
}

int build_request_run(build_request *request, command_line *cli, build_fn build)
{
    ksv_build_options *options = &request->options;
    ksv_build_report report = {0};
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    told_problems told = {.cli = cli};
    progress_line progress;
    progress_open(&progress, request->progress, cli->is_quiet);
    options->progress = progress_tell;
    options->progress_ctx = &progress;
    options->problem = tell_problem;
    options->problem_ctx = &told;
    ksv_status status = build(cli->index_directory, request->files,
                              request->file_count, options, &report, &error);
    progress_close(&progress);
    int exit_status = finish(&told, status, &error, report.committed);
    bool has_done =
        report.files_indexed + report.files_unchanged + report.files_dropped >
        0;
    if (report.committed && has_done && !cli->is_quiet)
        build_report_print(&report);
    return exit_status;
}
