/* SPDX-License-Identifier: MIT */
/* keysieve keys: every key in file order. */
#include <keysieve/index.h>

#include "commands.h"
#include "index_access.h"
#include "message.h"
#include "range_lookup.h"
#include "record_output.h"

enum { KEYS_JSON = 256 };

static const cli_option OPTIONS[] = {
    CLI_OPTION_INDEX,
    {'l', "locations", NULL, "print KEY<TAB>FILE<TAB>OFFSET<TAB>LENGTH"},
    {KEYS_JSON, "json", NULL, "one JSON object a record, without its bytes"},
    {'0', "null", NULL, "keys end with NUL, not with a line feed"},
    RANGE_OPTIONS,
    {0},
};

typedef struct keys_request {
    output *out;
    bool locations;
    bool as_json;
    bool nul_ended;
    range_request range;
} keys_request;

static bool parse(command_line *cli, keys_request *request)
{
    const char *value;
    for (;;) {
        int id = cli_next(cli, &value);
        switch (id) {
        case CLI_END:
            if (request->nul_ended && (request->locations || request->as_json))
                return cli_fail(cli, "-0 does not go with -l or --json");
            return range_check(cli, &request->range) &&
                   cli_refuse_arguments(cli);
        case CLI_STOP:
            return false;
        case 'l':
            request->locations = true;
            break;
        case '0':
            request->nul_ended = true;
            break;
        case KEYS_JSON:
            request->as_json = true;
            break;
        default:
            if (!range_take_option(cli, id, value, &request->range))
                return false;
        }
    }
}

static bool print_key(void *ctx, size_t key_number, const ksv_record *record)
{
    const keys_request *request = ctx;
    (void)key_number;
    if (request->as_json) {
        record_output_json(request->out, record, false, NULL);
    } else if (request->locations) {
        record_output_location(request->out, record);
    } else {
        output_add(request->out, record->key, record->key_bytes);
        output_add_byte(request->out, request->nul_ended ? '\0' : '\n');
    }
    return output_is_good(request->out);
}

static int run_all(command_line *cli, ksv_index *index, keys_request *request)
{
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    ksv_status status = ksv_index_keys(index, print_key, request, &error);
    if (status == KSV_OK)
        return 0;
    output_flush(cli->out);
    if (output_is_good(cli->out))
        message_error(&error, cli->index_hint);
    return 2;
}

/* That there are no such keys is an answer as any other. */
static int run_range(command_line *cli, ksv_index *index,
                     const keys_request *request)
{
    bool with_places = request->locations || request->as_json;
    range_print print = {.form = with_places ? RANGE_LOCATIONS : RANGE_KEYS,
                         .as_json = request->as_json,
                         .nul_ended = request->nul_ended};
    int status = range_run(cli, index, &request->range, &print);
    return status == 1 ? 0 : status;
}

static int run(command_line *cli)
{
    keys_request request = {.out = cli->out};
    ksv_index *index = NULL;
    int status = 2;
    if (!parse(cli, &request))
        status = cli->status;
    else if (index_access_open(cli, 0, &index))
        status = request.range.option != NULL ? run_range(cli, index, &request)
                                              : run_all(cli, index, &request);
    ksv_index_close(index);
    range_request_free(&request.range);
    return status;
}

const cli_verb COMMAND_KEYS = {
    .name = "keys",
    .usage = "[-i DIR] [-l | --json | -0]\n"
             "[-i DIR] [-l | --json | -0] --prefix P | --range A..B",
    .summary = "Print every key, in the order of the files (reads the data), "
               "or\nthose of a range in their own order (out of the index).",
    .options = OPTIONS,
    .notes =
        "A key with several records is printed as often; for -l and --json\n"
        "the data is read.\n"
        "Example: keysieve keys | sort | uniq -d",
    .run = run,
};
