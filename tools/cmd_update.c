/* SPDX-License-Identifier: MIT */
/* keysieve update: bring an index up to date with its files. */
#include "build_run.h"
#include "commands.h"

enum { UPDATE_KEEP_MISSING = 500 };

static const cli_option OPTIONS[] = {
    CLI_OPTION_INDEX,
    {UPDATE_KEEP_MISSING, "keep-missing", NULL,
     "vanished data files stay in the index"},
    BUILD_RUN_OPTIONS,
    {0},
};

static bool parse(build_request *request, command_line *cli)
{
    const char *value;
    int id;
    while ((id = cli_next(cli, &value)) != CLI_END) {
        bool is_taken = true;
        if (id == CLI_STOP ||
            !build_request_take(request, cli, id, value, &is_taken))
            return false;
        if (!is_taken)
            request->options.keep_missing = true;
    }
    if (!build_request_list_files(request, cli))
        return false;
    /* An empty list is not "all files". */
    return request->file_count > 0 || request->files_from == NULL ||
           cli_fail(cli, "%s names no data file", request->files_from);
}

static int run(command_line *cli)
{
    build_request request;
    build_request_open(&request);
    int status = 2;
    if (!parse(&request, cli))
        status = cli->status;
    else
        status = build_request_run(&request, cli, ksv_update);
    build_request_close(&request);
    return status;
}

const cli_verb COMMAND_UPDATE = {
    .name = "update",
    .usage = "[-i DIR] [options] [FILE...]",
    .summary = "Index again what has changed, drop what has vanished; with "
               "FILE only those.",
    .options = OPTIONS,
    .notes = "Example: keysieve update",
    .run = run,
};
