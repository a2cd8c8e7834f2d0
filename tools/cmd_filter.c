/* SPDX-License-Identifier: MIT */
/* keysieve filter: a Bloom filter on its own; finds the verb after it. */
#include "commands.h"
#include "filter_commands.h"

static const cli_verb *const VERBS[] = {
    &FILTER_CREATE, &FILTER_ADD,  &FILTER_TEST, &FILTER_INFO,
    &FILTER_MERGE,  &FILTER_SIZE, NULL,
};

static const cli_option OPTIONS[] = {{0}};

/* Without a verb: an option of the group, or a mistake. */
static int run(command_line *cli)
{
    const char *value;
    int id = cli_next(cli, &value);
    if (id == CLI_ARGUMENT)
        cli_fail(cli, "filter has no verb '%s'", cli->arguments[0]);
    else if (id == CLI_END)
        cli_fail(cli, "filter needs a verb: create, add, test, info, merge or "
                      "size");
    return cli->status;
}

const cli_verb COMMAND_FILTER = {
    .name = "filter",
    .usage = "create -o F [--fpr P] [--expect N] [FILE]\n"
             "add F [FILE]\n"
             "test [-v] F [FILE]\n"
             "info [--json] F\n"
             "merge -o F A B...\n"
             "size --expect N [--fpr P] [--json]",
    .summary = "A Bloom filter on its own: a small file that knows which keys "
               "are surely absent.",
    .options = OPTIONS,
    .notes = "Keys come one a line (or end with NUL: -0) from FILE or standard "
             "input.\n"
             "'keysieve help filter create' and so on tell the rest.\n"
             "\n"
             "  keysieve filter create -o blocked.ksf blocked.txt\n"
             "  keysieve filter test blocked.ksf visitors.txt\n"
             "\n"
             "Exit status: 0 done, or all keys may be there; 1 some surely are "
             "not; 2 error.\n"
             "Example: keysieve filter size --expect 1e9 --fpr 0.001",
    .verbs = VERBS,
    .run = run,
};
