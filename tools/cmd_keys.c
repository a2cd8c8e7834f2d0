/* SPDX-License-Identifier: MIT */
/* keysieve keys: every key in file order. */
#include <keysieve/index.h>

#include "commands.h"
#include "index_access.h"
#include "message.h"
#include "record_output.h"

enum { KEYS_JSON = 256 };

static const cli_option OPTIONS[] = {
    CLI_OPTION_INDEX,
    {'l', "locations", NULL, "print KEY<TAB>FILE<TAB>OFFSET<TAB>LENGTH"},
    {KEYS_JSON, "json", NULL, "one JSON object a record, without its bytes"},
    {'0', "null", NULL, "keys end with NUL, not with a line feed"},
    {0},
};

typedef struct keys_request {
    output *out;
    bool locations;
    bool as_json;
    bool nul_ended;
} keys_request;

static bool parse(command_line *cli, keys_request *request)
{
    const char *value;
    for (;;) {
        switch (cli_next(cli, &value)) {
        case CLI_END:
            if (request->nul_ended && (request->locations || request->as_json))
                return cli_fail(cli, "-0 does not go with -l or --json");
            return cli_refuse_arguments(cli);
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
            break;
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

static int run(command_line *cli)
{
    keys_request request = {.out = cli->out};
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    ksv_index *index;
    if (!parse(cli, &request))
        return cli->status;
    if (!index_access_open(cli, 0, &index))
        return 2;
    ksv_status status = ksv_index_keys(index, print_key, &request, &error);
    ksv_index_close(index);
    if (status == KSV_OK)
        return 0;
    output_flush(cli->out);
    if (output_is_good(cli->out))
        message_error(&error, cli->index_hint);
    return 2;
}

const cli_verb COMMAND_KEYS = {
    .name = "keys",
    .usage = "[-i DIR] [-l | --json | -0]",
    .summary = "Print every key, in the order of the files (reads the data).",
    .options = OPTIONS,
    .notes = "A key with several records is printed as often.\n"
             "Example: keysieve keys | sort | uniq -d",
    .run = run,
};
