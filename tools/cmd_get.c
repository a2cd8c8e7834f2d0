/* SPDX-License-Identifier: MIT */
/* keysieve get: print the records of keys. */
#include "commands.h"
#include "lookup.h"

static const cli_option OPTIONS[] = {
    CLI_OPTION_INDEX,
    LOOKUP_OPTIONS_FORM,
    {LOOKUP_JSON, "json", NULL,
     "one JSON object a record; with -l without\n"
     "its bytes, with -c its count"},
    {LOOKUP_HEADER, "header", NULL, "csv, tsv: the header line first"},
    LOOKUP_OPTIONS_KEYS,
    {'0', "null", NULL, "keys of FILE end with NUL, not with a line end"},
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
        case LOOKUP_HEADER:
            request->with_header = true;
            break;
        default:
            if (!lookup_take_option(cli, id, value, request))
                return false;
        }
    }
}

static int run(command_line *cli)
{
    lookup_request request = {.form = LOOKUP_RECORDS};
    int status = parse(cli, &request) ? lookup_run(cli, &request) : cli->status;
    range_request_free(&request.range);
    return status;
}

const cli_verb COMMAND_GET = {
    .name = "get",
    .usage = "[-i DIR] [options] [--] KEY...\n"
             "[-i DIR] [options] -f FILE | --prefix P | --range A..B",
    .summary = "Print the records of keys, byte for byte, in the order asked.",
    .options = OPTIONS,
    .notes = "Exit status: 0 every key found, 1 some not found, 2 error.\n"
             "Example: keysieve get -- user-17 -x",
    .hint = "A key that begins with - goes after --.",
    .run = run,
};
