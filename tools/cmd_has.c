/* SPDX-License-Identifier: MIT */
/* keysieve has: which keys exist. */
#include "commands.h"
#include "lookup.h"

static const cli_option OPTIONS[] = {
    CLI_OPTION_INDEX,
    {'v', "invert", NULL, "print the keys that do not exist"},
    {LOOKUP_MAYBE, "maybe", NULL, "ask the filters only: present means maybe"},
    {LOOKUP_JSON, "json", NULL, "{\"key\",\"found\"} for every key asked"},
    LOOKUP_OPTIONS_FORM,
    LOOKUP_OPTIONS_KEYS,
    {'0', "null", NULL, "keys of FILE, and those printed, end with NUL"},
    LOOKUP_OPTIONS_COST,
    {CLI_QUIET, "quiet", NULL, "print nothing: the exit status tells"},
    {0},
};

static bool parse(command_line *cli, lookup_request *request)
{
    const char *value;
    for (;;) {
        int id = cli_next(cli, &value);
        switch (id) {
        case CLI_END:
            return true;
        case CLI_STOP:
            return false;
        case 'v':
            request->invert = true;
            break;
        case LOOKUP_MAYBE:
            request->filters_only = true;
            break;
        default:
            if (!lookup_take_option(cli, id, value, request))
                return false;
        }
    }
}

static int run(command_line *cli)
{
    lookup_request request = {.form = LOOKUP_KEYS};
    int status = parse(cli, &request) ? lookup_run(cli, &request) : cli->status;
    range_request_free(&request.range);
    return status;
}

const cli_verb COMMAND_HAS = {
    .name = "has",
    .usage = "[-i DIR] [options] [--] KEY...\n"
             "[-i DIR] [options] -f FILE | --prefix P | --range A..B",
    .summary = "Print those of the keys that exist.",
    .options = OPTIONS,
    .notes = "Exit status: 0 every key found, 1 some not found, 2 error.\n"
             "Example: keysieve has -v -f wanted.txt",
    .hint = "A key that begins with - goes after --.",
    .run = run,
};
