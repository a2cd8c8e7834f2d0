/* SPDX-License-Identifier: MIT */
/* What the verbs get, has and keys do with --prefix and --range. */
#include "range_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "byte_buffer.h"
#include "message.h"
#include "receipt_output.h"
#include "record_output.h"

void range_request_free(range_request *request)
{
    free(request->words);
    request->words = NULL;
}

/* Copies a key up to the end of `text` or to "..", which is not copied; a
 * backslash takes its meaning from the byte behind it. Returns what is left, or
 * NULL at the end of the text. */
static const char *take_key(const char *text, char *out, size_t *length)
{
    *length = 0;
    while (*text != '\0' && strncmp(text, "..", 2) != 0) {
        if (*text == '\\' && text[1] != '\0')
            text++;
        out[(*length)++] = *text++;
    }
    return *text != '\0' ? text + 2 : NULL;
}

static bool take_range(command_line *cli, const char *value,
                       range_request *request)
{
    size_t from_bytes;
    size_t to_bytes = 0;
    free(request->words);
    request->words = resize_memory(NULL, strlen(value) + 1, 1);
    char *to = request->words;
    const char *rest = take_key(value, request->words, &from_bytes);
    if (rest == NULL)
        return cli_fail(cli, "--range needs A..B, not '%s'", value);
    to += from_bytes;
    if (*rest != '\0' && take_key(rest, to, &to_bytes) != NULL)
        return cli_fail(cli,
                        "--range has '..' twice: in a key a point is written "
                        "as \\.");
    request->option = "--range";
    request->range.from = (ksv_key){request->words, from_bytes};
    request->range.to = (ksv_key){*rest != '\0' ? to : NULL, to_bytes};
    return true;
}

bool range_take_option(command_line *cli, int id, const char *value,
                       range_request *request)
{
    switch (id) {
    case RANGE_PREFIX:
        request->option = "--prefix";
        request->range.prefix = (ksv_key){value, strlen(value)};
        return true;
    case RANGE_BETWEEN:
        return take_range(cli, value, request);
    case RANGE_LIMIT:
        return cli_parse_number(cli, "--limit", value, 1, UINT64_MAX,
                                &request->limit);
    case RANGE_REVERSE:
        request->reverse = true;
        return true;
    default:
        return true;
    }
}

bool range_check(command_line *cli, const range_request *request)
{
    if (request->option == NULL && (request->limit > 0 || request->reverse))
        return cli_fail(cli, "%s goes with --prefix and --range only",
                        request->reverse ? "--reverse" : "--limit");
    return true;
}

/* A range while it is visited. */
typedef struct range_run_state {
    const range_request *request;
    const range_print *print;
    command_line *cli;
    output *out;
    uint64_t lines;
    bool is_full;       /* by --limit */
    bool record_failed; /* then `error` is its */
    byte_buffer key;    /* that is counted */
    uint64_t count;
    ksv_error error;
} range_run_state;

static bool take_line(range_run_state *run)
{
    uint64_t limit = run->request->limit;
    run->is_full = limit > 0 && run->lines >= limit;
    run->lines += !run->is_full;
    return !run->is_full;
}

static bool print_record(range_run_state *run, const ksv_record *record)
{
    const range_print *print = run->print;
    bool with_bytes = print->form == RANGE_RECORDS;
    if (print->form == RANGE_KEYS) {
        record_output_key(run->out, record->key, record->key_bytes,
                          print->as_json, print->nul_ended);
        return true;
    }
    if (print->as_json)
        return record_output_json(run->out, record, with_bytes, &run->error);
    if (!with_bytes) {
        record_output_location(run->out, record);
        return true;
    }
    if (!record_output_bytes(run->out, record, &run->error))
        return false;
    output_add_byte(run->out, '\n');
    return true;
}

/* All records of a key are visited one after the other. */
static bool finish_count(range_run_state *run)
{
    ksv_key key = {run->key.data, run->key.used_bytes};
    uint64_t count = run->count;
    run->count = 0;
    if (count == 0)
        return true;
    if (!take_line(run))
        return false;
    if (!run->cli->is_quiet)
        record_output_count(run->out, key.data, key.bytes, count,
                            run->print->as_json);
    return true;
}

static bool count_record(range_run_state *run, const ksv_record *record)
{
    bool is_same = run->count > 0 && run->key.used_bytes == record->key_bytes &&
                   memcmp(run->key.data, record->key, record->key_bytes) == 0;
    if (!is_same) {
        if (!finish_count(run))
            return false;
        run->key.used_bytes = 0;
        byte_buffer_add(&run->key, record->key, record->key_bytes);
    }
    run->count++;
    return true;
}

static bool visit(void *ctx, size_t key_number, const ksv_record *record)
{
    range_run_state *run = ctx;
    (void)key_number;
    if (run->print->form == RANGE_COUNTS)
        return count_record(run, record) && output_is_good(run->out);
    if (!take_line(run))
        return false;
    if (!run->cli->is_quiet)
        run->record_failed = !print_record(run, record);
    return output_is_good(run->out) && !run->record_failed;
}

static ksv_status ask(range_run_state *run, ksv_index *index,
                      ksv_receipt *receipt)
{
    const range_print *print = run->print;
    bool reads = print->form == RANGE_RECORDS || print->form == RANGE_LOCATIONS;
    ksv_range_options options = {.reverse = run->request->reverse,
                                 .first_only = print->once,
                                 .no_data = print->form != RANGE_RECORDS,
                                 .index_only = !reads || run->cli->is_quiet,
                                 .linear_scan = print->linear_scan};
    if (print->form != RANGE_COUNTS)
        options.limit = run->request->limit;
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    ksv_status status = ksv_get_range(index, &run->request->range, &options,
                                      visit, run, receipt, &error);
    if (status == KSV_OK)
        finish_count(run);
    if (!run->record_failed)
        run->error = error;
    return run->is_full ? KSV_OK : status;
}

/* The hash organisation keeps no keys, hence no order of keys. */
static int refuse(const command_line *cli, const char *option)
{
    message_hint("Build one: keysieve build --organisation sorted -i "
                 "OTHER_DIR -k KEY FILE...",
                 "%s needs an index with the organisation sorted or btree, "
                 "and that of %s is hash",
                 option, cli->index_directory);
    return 2;
}

int range_run(command_line *cli, ksv_index *index, const range_request *request,
              const range_print *print)
{
    range_run_state run = {
        .request = request, .print = print, .cli = cli, .out = cli->out};
    ksv_receipt receipt = {0};
    if (ksv_index_organisation(index) == KSV_ORGANISATION_HASH &&
        !print->linear_scan)
        return refuse(cli, request->option);
    ksv_status status = ask(&run, index, &receipt);
    byte_buffer_free(&run.key);
    if (!output_is_good(cli->out))
        return 2;
    if (status != KSV_OK) {
        output_flush(cli->out);
        message_error(&run.error, cli->index_hint);
        return 2;
    }
    if (print->stats)
        receipt_output_sum(&receipt, 0, print->as_json);
    return run.lines > 0 ? 0 : 1;
}
