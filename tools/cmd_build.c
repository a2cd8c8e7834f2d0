/* SPDX-License-Identifier: MIT */
/* keysieve build: make or extend an index. */
#include <keysieve/index.h>

#include "build_run.h"
#include "commands.h"
#include "format_arguments.h"

enum {
    BUILD_FPR = 500,
    BUILD_ORGANISATION,
    BUILD_HASH,
    BUILD_WATCH_PATTERN,
    BUILD_FORGET_PATTERNS
};

static const cli_option OPTIONS[] = {
    CLI_OPTION_INDEX,
    FORMAT_ARGUMENTS_OPTIONS,
    {BUILD_FPR, "fpr", "P", "false positives of the filter (default 0.005)"},
    {BUILD_ORGANISATION, "organisation", "ORG", "hash (default) sorted btree"},
    {BUILD_HASH, "hash", "HASH", "xxh3 (default); siphash for hostile keys"},
    {BUILD_WATCH_PATTERN, "watch-pattern", "GLOB",
     "index what matches, now and in each update"},
    {BUILD_FORGET_PATTERNS, "forget-patterns", NULL,
     "drop the patterns that the index has"},
    BUILD_RUN_OPTIONS,
    {0},
};

static bool take_own(build_request *request, command_line *cli, int id,
                     const char *value)
{
    ksv_build_options *options = &request->options;
    int choice;
    switch (id) {
    case BUILD_FPR:
        return cli_parse_rate(cli, "--fpr", value, &options->fpr);
    case BUILD_ORGANISATION:
        if (!cli_parse_choice(cli, "--organisation", value, "hash,sorted,btree",
                              &choice))
            return false;
        options->organisation =
            (ksv_organisation)(KSV_ORGANISATION_HASH + choice);
        return true;
    case BUILD_WATCH_PATTERN:
        if (value[0] == '\0')
            return cli_fail(cli, "--watch-pattern needs a pattern");
        build_request_add_pattern(request, value);
        return true;
    case BUILD_FORGET_PATTERNS:
        options->forget_watch_patterns = true;
        return true;
    default:
        return cli_parse_hash(cli, value, &options->hash);
    }
}

static bool take(build_request *request, format_arguments *format,
                 command_line *cli, int id, const char *value)
{
    bool is_taken;
    if (!format_arguments_take(format, cli, id, value, &is_taken))
        return false;
    if (is_taken)
        return true;
    if (!build_request_take(request, cli, id, value, &is_taken))
        return false;
    return is_taken || take_own(request, cli, id, value);
}

static bool parse(build_request *request, format_arguments *format,
                  command_line *cli)
{
    const char *value;
    int id;
    while ((id = cli_next(cli, &value)) != CLI_END) {
        if (id == CLI_STOP || !take(request, format, cli, id, value))
            return false;
    }
    if (cli->argument_count == 0 && request->files_from == NULL)
        return true;
    if (!build_request_list_files(request, cli))
        return false;
    return request->file_count > 0 ||
           cli_fail(cli, "%s names no data file", request->files_from);
}

/* Whether there is something that an index with its own format may be, and
 * that format if it can be read. */
static bool find_index(const command_line *cli, ksv_format *format)
{
    ksv_index *index;
    *format = KSV_FORMAT_NONE;
    ksv_status status =
        ksv_index_open(cli->index_directory, NULL, &index, NULL);
    if (status == KSV_OK) {
        *format = ksv_index_format(index);
        ksv_index_close(index);
    }
    return status != KSV_ERROR_NO_INDEX;
}

/* An existing index has a format and a key: what the command line does not say
 * is as the index has it. */
static bool choose_format(build_request *request, format_arguments *format,
                          command_line *cli)
{
    ksv_format known;
    bool exists = find_index(cli, &known);
    const char *const *names = request->files;
    size_t count = request->file_count;
    bool forgets = exists && request->options.forget_watch_patterns;
    if (count == 0 && request->options.watch_pattern_count > 0) {
        names = request->patterns;
        count = request->options.watch_pattern_count;
    } else if (count == 0 && !forgets) {
        return cli_fail(cli, "no data file given");
    }
    bool says_nothing = format_arguments_is_empty(format);
    bool repeats_format = format->key_count == 0 && !format->has_dialect &&
                          known == format->options.format;
    if (exists && (says_nothing || repeats_format))
        return true;
    request->options.format = &format->options;
    return format_arguments_finish(format, cli, names, count, known);
}

static int run(command_line *cli)
{
    build_request request;
    format_arguments format;
    int status;
    build_request_open(&request);
    format_arguments_open(&format);
    if (!parse(&request, &format, cli) ||
        !choose_format(&request, &format, cli))
        status = cli->status;
    else
        status = build_request_run(&request, cli, ksv_build);
    format_arguments_close(&format);
    build_request_close(&request);
    return status;
}

const cli_verb COMMAND_BUILD = {
    .name = "build",
    .usage = "[-i DIR] [-f FORMAT] -k KEY [options] FILE...",
    .summary = "Make an index over data files, or extend it; what is unchanged "
               "is skipped.",
    .options = OPTIONS,
    .notes = "Example: keysieve build -k user_id events.csv more.csv.gz",
    .run = run,
};
