/* SPDX-License-Identifier: MIT */
/* The verb dedup: what is asked for on the command line. */
#include "dedup_request.h"

#include <stdlib.h>
#include <string.h>

#define CHECKPOINT_MS_DEFAULT 1000
#define YEAR_MS (UINT64_C(366) * 24 * 3600 * 1000)

void dedup_request_open(dedup_request *request)
{
    memset(request, 0, sizeof *request);
    ksv_dedup_options_init(&request->options);
    format_arguments_open(&request->format);
}

void dedup_request_close(dedup_request *request)
{
    format_arguments_close(&request->format);
}

/* "24h", "90m", "30s", "500ms", "7d", "2w"; up to 100 years. */
static bool parse_duration(const char *value, uint64_t *ms)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"ms", 1},      {"s", 1000},     {"m", 60000},
                 {"h", 3600000}, {"d", 86400000}, {"w", 604800000}};
    char *end;
    if (value[0] < '0' || value[0] > '9')
        return false;
    uint64_t number = strtoull(value, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i].name, end) != 0)
            continue;
        if (number == 0 || number > 100 * YEAR_MS / units[i].ms)
            return false;
        *ms = number * units[i].ms;
        return true;
    }
    return false;
}

static bool take_window(dedup_request *request, command_line *cli,
                        const char *value)
{
    uint64_t ms;
    if (!parse_duration(value, &ms))
        return cli_fail(cli,
                        "--window needs a time such as 24h (ms, s, m, h, d or "
                        "w behind a whole number), not '%s'",
                        value);
    request->options.window_ms = (int64_t)ms;
    return true;
}

/* "100000", "5s", or both with a comma. */
static bool take_checkpoint(dedup_request *request, command_line *cli,
                            const char *value)
{
    char part[32];
    ksv_dedup_stream *stream = &request->stream;
    stream->checkpoint_records = 0;
    stream->checkpoint_ms = 0;
    for (const char *next = value; next != NULL;) {
        size_t length = strcspn(next, ",");
        char *end = part;
        if (length > 0 && length < sizeof part) {
            memcpy(part, next, length);
            part[length] = '\0';
            if (parse_duration(part, &stream->checkpoint_ms))
                end = part + length;
            else if (part[0] >= '1' && part[0] <= '9')
                stream->checkpoint_records = strtoull(part, &end, 10);
        }
        if (length == 0 || end != part + length)
            return cli_fail(cli,
                            "--checkpoint needs a number of records, a time "
                            "such as 5s, or both with a comma, not '%s'",
                            value);
        next = next[length] == ',' ? next + length + 1 : NULL;
    }
    return true;
}

static bool take_size(dedup_request *request, command_line *cli, int id,
                      const char *value)
{
    ksv_dedup_options *options = &request->options;
    uint64_t number;
    switch (id) {
    case DEDUP_MEMORY:
        return cli_parse_size(cli, "--memory", value, &options->memory_bytes);
    case DEDUP_EXPECT:
        return cli_parse_count(cli, "--expect", value, 1, UINT64_C(1) << 50,
                               &options->expected_keys);
    case DEDUP_FPR:
        return cli_parse_rate(cli, "--fpr", value, &options->fpr);
    default:
        if (!cli_parse_number(cli, "--generations", value, 1, 32, &number))
            return false;
        options->generations = (unsigned)number;
        return true;
    }
}

static bool take_own(dedup_request *request, command_line *cli, int id,
                     const char *value)
{
    switch (id) {
    case DEDUP_TEMP_DIR:
        request->temp_directory = value;
        return true;
    case DEDUP_APPROXIMATE:
        request->options.approximate = true;
        return true;
    case DEDUP_WINDOW:
        return take_window(request, cli, value);
    case DEDUP_TIME_FIELD:
        request->options.time_key = value;
        return true;
    case DEDUP_STATE:
        request->options.state_directory = value;
        return true;
    case DEDUP_CHECKPOINT:
        return take_checkpoint(request, cli, value);
    case DEDUP_HASH:
        return cli_parse_hash(cli, value, &request->options.hash);
    case DEDUP_STRICT:
        request->stream.strict = true;
        return true;
    case DEDUP_BAD_RECORDS:
        return cli_parse_switch(cli, "--bad-records", value, "fail,skip",
                                &request->stream.skip_bad_records);
    case DEDUP_TRAILING_GARBAGE:
        return cli_parse_switch(cli, "--trailing-garbage", value, "fail,ignore",
                                &request->stream.ignore_trailing_garbage);
    default: /* arguments, and what cli_next() takes itself */
        return true;
    }
}

static bool take(dedup_request *request, command_line *cli, int id,
                 const char *value)
{
    bool is_taken;
    if (!format_arguments_take(&request->format, cli, id, value, &is_taken))
        return false;
    if (is_taken)
        return true;
    if (id == DEDUP_MEMORY || id == DEDUP_EXPECT || id == DEDUP_FPR ||
        id == DEDUP_GENERATIONS)
        return take_size(request, cli, id, value);
    return take_own(request, cli, id, value);
}

/* Whether the options go together. */
static bool check(const dedup_request *request, command_line *cli)
{
    const ksv_dedup_options *o = &request->options;
    bool has_checkpoint =
        request->stream.checkpoint_records + request->stream.checkpoint_ms > 0;
    if (o->approximate && o->expected_keys == 0)
        return cli_fail(cli, "--approximate needs --expect, the number of keys "
                             "to expect");
    if (!o->approximate && (o->expected_keys > 0 || o->fpr > 0))
        return cli_fail(cli, "--expect and --fpr go with --approximate only");
    if (o->approximate && o->memory_bytes > 0)
        return cli_fail(cli, "--memory is for the exact way; --expect and "
                             "--fpr say how much --approximate takes");
    if (o->window_ms == 0 && (o->time_key != NULL || o->generations > 0))
        return cli_fail(cli, "--time-field and --generations go with --window "
                             "only");
    if (o->state_directory == NULL && has_checkpoint)
        return cli_fail(cli, "--checkpoint goes with --state only");
    return true;
}

static bool parse_words(dedup_request *request, command_line *cli)
{
    const char *value;
    int id;
    while ((id = cli_next(cli, &value)) != CLI_END) {
        if (id == CLI_STOP || !take(request, cli, id, value))
            return false;
    }
    return check(request, cli);
}

bool dedup_request_parse(dedup_request *request, command_line *cli)
{
    ksv_dedup_stream *stream = &request->stream;
    if (!parse_words(request, cli))
        return false;
    if (request->options.state_directory != NULL &&
        stream->checkpoint_records + stream->checkpoint_ms == 0)
        stream->checkpoint_ms = CHECKPOINT_MS_DEFAULT;
    request->options.format = &request->format.options;
    static const char *const pipe[] = {"standard input"};
    bool has_files = cli->argument_count > 0;
    return format_arguments_finish(
        &request->format, cli, has_files ? cli->arguments : pipe,
        has_files ? cli->argument_count : 1, KSV_FORMAT_NONE);
}
