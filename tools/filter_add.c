/* SPDX-License-Identifier: MIT */
/* keysieve filter add, merge: filters that take more keys. */
#include "filter_arguments.h"
#include "filter_commands.h"
#include "filter_keys.h"
#include "filter_store.h"
#include "message.h"

static const cli_option ADD_OPTIONS[] = {
    {'0', "null", NULL, "keys end with NUL, not with LF"},
    {CLI_QUIET, "quiet", NULL, "no summary; warnings remain"},
    {0},
};

static const cli_option MERGE_OPTIONS[] = {
    {'o', "output", "F", "the file of the union; may be one of those read"},
    {CLI_QUIET, "quiet", NULL, "no summary; warnings remain"},
    {0},
};

static bool add_keys(ksv_filter_builder *builder, filter_keys *keys)
{
    while (filter_keys_next(keys)) {
        if (keys->list.count == 0)
            return true;
        ksv_filter_builder_add_batch(builder, keys->hashes, keys->list.count);
    }
    return false;
}

static int add_to(command_line *cli, const filter_request *request,
                  ksv_filter_builder *builder)
{
    ksv_filter_info info;
    filter_keys keys;
    ksv_filter_builder_get_info(builder, &info);
    if (!filter_keys_open(&keys, cli, 1, request->nul_ended,
                          &info.options.hasher))
        return cli->status;
    int status = 2;
    if (filter_store_check_keys(cli->arguments[0], &keys) &&
        add_keys(builder, &keys))
        status = filter_store_save(cli, builder, cli->arguments[0],
                                   FILTER_STORE_UPDATE);
    filter_keys_close(&keys);
    return status;
}

static int run_add(command_line *cli)
{
    filter_request request;
    ksv_filter_builder *builder;
    if (!filter_take_options(cli, &request) || !filter_check_file(cli))
        return cli->status;
    if (!filter_store_check(cli->arguments[0]) ||
        !filter_store_load(cli->arguments[0], &builder))
        return 2;
    int status = add_to(cli, &request, builder);
    ksv_filter_builder_close(builder);
    return status;
}

static bool merge_one(ksv_filter_builder *builder, const char *path)
{
    ksv_filter_builder *other;
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    if (!filter_store_load(path, &other))
        return false;
    ksv_status status = ksv_filter_builder_merge(builder, other, &error);
    ksv_filter_builder_close(other);
    if (status != KSV_OK)
        message_hint("Filters made with the same --expect and --fpr, or with "
                     "--like, can be merged.",
                     "%s: cannot be merged: %s", path, error.text);
    return status == KSV_OK;
}

/* A filter like that of the first file, which is the first to be merged: the
 * union belongs to no index even when the parts do. */
static bool merge_all(const command_line *cli, ksv_filter_builder **builder)
{
    ksv_filter_options options;
    *builder = NULL;
    bool good = filter_store_take_options(cli->arguments[0], &options) &&
                filter_store_make(&options, builder);
    for (size_t i = 0; i < cli->argument_count && good; i++)
        good = merge_one(*builder, cli->arguments[i]);
    return good;
}

static int run_merge(command_line *cli)
{
    filter_request request;
    if (!filter_take_options(cli, &request))
        return cli->status;
    if (request.output == NULL || request.output[0] == '\0') {
        cli_fail(cli, "-o F is needed: the file of the union");
        return cli->status;
    }
    if (cli->argument_count == 0) {
        cli_fail(cli, "the filters to be merged are needed");
        return cli->status;
    }
    ksv_filter_builder *builder = NULL;
    int status = 2;
    if (filter_store_check(request.output) && merge_all(cli, &builder))
        status = filter_store_save(cli, builder, request.output,
                                   FILTER_STORE_REPLACE);
    ksv_filter_builder_close(builder);
    return status;
}

const cli_verb FILTER_ADD = {
    .name = "filter add",
    .usage = "[options] F [FILE]",
    .summary = "Add the keys of FILE (or standard input), one a line, to the "
               "filter F.",
    .options = ADD_OPTIONS,
    .notes = "F is replaced as a whole at the end. A filter of an index is "
             "refused.\n"
             "Exit status: 0 done, 2 error.\n"
             "Example: keysieve filter add blocked.ksf more.txt",
    .run = run_add,
};

const cli_verb FILTER_MERGE = {
    .name = "filter merge",
    .usage = "-o F [options] A B...",
    .summary = "Make a filter of the keys of all the filters A, B...",
    .options = MERGE_OPTIONS,
    .notes = "They have to be alike in kind, bits, hash functions and hash: "
             "made with the\n"
             "same --expect and --fpr, or with --like.\n"
             "Exit status: 0 done, 2 error.\n"
             "Example: keysieve filter merge -o all.ksf mon.ksf tue.ksf",
    .run = run_merge,
};
