/* SPDX-License-Identifier: MIT */
/* What the verbs get and has share: ask for many keys, print the answers. */
#include "lookup.h"

#include <stdlib.h>
#include <string.h>

#include <keysieve/index.h>

#include "byte_buffer.h"
#include "index_access.h"
#include "json.h"
#include "keylist.h"
#include "message.h"
#include "receipt_output.h"
#include "record_output.h"

/* For how long batches share a look at the data files. */
#define SHARED_LOOK_NS 1000000000u

/* A lookup while it runs. */
typedef struct key_lookup {
    const lookup_request *request;
    command_line *cli;
    output *out;
    ksv_index *index;
    keylist list;
    ksv_receipt receipt;
    ksv_receipt *receipts; /* of the batch; NULL unless wanted */
    bool *answers;         /* of the batch, for LOOKUP_KEYS */
    bool header_is_due;
    bool some_missing;
    bool record_failed; /* then `error` is its */
    size_t counted_key; /* of the batch, for LOOKUP_COUNTS */
    uint64_t count;
    ksv_error error;
} key_lookup;

bool lookup_take_option(command_line *cli, int id, const char *value,
                        lookup_request *request)
{
    switch (id) {
    case 'l':
    case 'c':
        if (request->form == LOOKUP_LOCATIONS || request->form == LOOKUP_COUNTS)
            return request->form ==
                       (id == 'l' ? LOOKUP_LOCATIONS : LOOKUP_COUNTS) ||
                   cli_fail(cli, "-l and -c do not go together");
        request->form = id == 'l' ? LOOKUP_LOCATIONS : LOOKUP_COUNTS;
        break;
    case 'f':
        if (request->keys_file != NULL)
            return cli_fail(cli, "--keys-from was given twice");
        request->keys_file = value;
        break;
    case '0':
        request->nul_ended = true;
        break;
    case LOOKUP_JSON:
        request->as_json = true;
        break;
    case LOOKUP_FIRST:
        request->first_only = true;
        break;
    case LOOKUP_SCAN:
        request->linear_scan = true;
        break;
    case LOOKUP_EXPLAIN:
        request->explain = true;
        break;
    case LOOKUP_STATS:
        request->stats = true;
        break;
    default:
        return range_take_option(cli, id, value, &request->range);
    }
    return true;
}

/* The option that makes no sense with another, or NULL. */
static const char *find_conflict(const lookup_request *request)
{
    bool is_plain = request->form == LOOKUP_RECORDS && !request->as_json;
    bool is_keys = request->form == LOOKUP_KEYS;
    if (request->with_header && !is_plain)
        return "--header goes with plain records only, not with -l, -c or "
               "--json";
    if (request->filters_only && request->linear_scan)
        return "--maybe and --scan do not go together";
    if (request->filters_only && !is_keys)
        return "--maybe does not go with -l or -c";
    if (request->invert && !is_keys)
        return "-v does not go with -l or -c";
    return NULL;
}

/* The same of what asks for ranges. */
static const char *find_range_conflict(const command_line *cli,
                                       const lookup_request *request)
{
    if (cli->argument_count > 0 || request->keys_file != NULL)
        return "--prefix and --range do not go with keys";
    if (request->filters_only || request->invert)
        return "--maybe and -v go with keys, not with --prefix or --range";
    if (request->explain)
        return "--explain goes with keys; --stats tells what a range cost";
    return NULL;
}

static bool check_request(command_line *cli, const lookup_request *request)
{
    const char *conflict = find_conflict(request);
    if (conflict == NULL && request->range.option != NULL)
        conflict = find_range_conflict(cli, request);
    if (conflict != NULL)
        return cli_fail(cli, "%s", conflict);
    if (cli->argument_count == 0 && request->keys_file == NULL &&
        request->range.option == NULL && request->range.limit == 0 &&
        !request->range.reverse)
        return cli_fail(cli, "no key given");
    return range_check(cli, &request->range);
}

static void tell_missing(key_lookup *lookup, const ksv_key *key)
{
    const lookup_request *request = lookup->request;
    lookup->some_missing = true;
    bool is_printed =
        request->form == LOOKUP_KEYS && request->invert && !request->as_json;
    if (lookup->cli->is_quiet || is_printed)
        return;
    if (lookup->out->is_terminal)
        output_flush(lookup->out);
    message_not_found(key->data, key->bytes);
}

static void print_key(key_lookup *lookup, const ksv_key *key, bool is_found)
{
    const lookup_request *request = lookup->request;
    output *out = lookup->out;
    if (lookup->cli->is_quiet)
        return;
    if (request->as_json) {
        output_add_byte(out, '{');
        json_add_bytes(out, true, "key", key->data, key->bytes);
        output_add_text(out, is_found ? ",\"found\":true}\n"
                                      : ",\"found\":false}\n");
    } else if (is_found != request->invert) {
        output_add(out, key->data, key->bytes);
        output_add_byte(out, request->nul_ended ? '\0' : '\n');
    }
}

static void answer_key(key_lookup *lookup, const ksv_key *key, bool is_found)
{
    print_key(lookup, key, is_found);
    if (!is_found)
        tell_missing(lookup, key);
}

static void print_count(key_lookup *lookup, const ksv_key *key, uint64_t count)
{
    if (!lookup->cli->is_quiet)
        record_output_count(lookup->out, key->data, key->bytes, count,
                            lookup->request->as_json);
}

/* A key's records are all there when the next key's come. */
static void finish_count(key_lookup *lookup)
{
    if (lookup->count > 0)
        print_count(lookup, &lookup->list.words[lookup->counted_key],
                    lookup->count);
    lookup->count = 0;
}

static void count_record(key_lookup *lookup, size_t key_number)
{
    if (key_number != lookup->counted_key)
        finish_count(lookup);
    lookup->counted_key = key_number;
    lookup->count++;
}

static void print_record(key_lookup *lookup, const ksv_record *record)
{
    const lookup_request *request = lookup->request;
    bool with_bytes = request->form == LOOKUP_RECORDS;
    bool good = true;
    if (request->as_json)
        good =
            record_output_json(lookup->out, record, with_bytes, &lookup->error);
    else if (!with_bytes)
        record_output_location(lookup->out, record);
    else if ((good = record_output_bytes(lookup->out, record, &lookup->error)))
        output_add_byte(lookup->out, '\n');
    lookup->record_failed = !good;
}

static void visit_missing(key_lookup *lookup, const ksv_key *key)
{
    if (lookup->request->form == LOOKUP_COUNTS) {
        finish_count(lookup);
        print_count(lookup, key, 0);
    }
    if (lookup->request->form == LOOKUP_KEYS)
        answer_key(lookup, key, false);
    else
        tell_missing(lookup, key);
}

static bool visit_record(void *ctx, size_t key_number, const ksv_record *record)
{
    key_lookup *lookup = ctx;
    if (record == NULL)
        visit_missing(lookup, &lookup->list.words[key_number]);
    else if (lookup->request->form == LOOKUP_KEYS)
        answer_key(lookup, &lookup->list.words[key_number], true);
    else if (lookup->cli->is_quiet)
        return true;
    else if (lookup->request->form == LOOKUP_COUNTS)
        count_record(lookup, key_number);
    else
        print_record(lookup, record);
    return output_is_good(lookup->out) && !lookup->record_failed;
}

static ksv_status get_batch(key_lookup *lookup)
{
    const lookup_request *request = lookup->request;
    bool is_keys = request->form == LOOKUP_KEYS;
    ksv_lookup_options options = {
        .first_only = request->first_only || is_keys,
        .no_data = request->form != LOOKUP_RECORDS || lookup->cli->is_quiet,
        .linear_scan = request->linear_scan,
    };
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    lookup->counted_key = 0;
    lookup->count = 0;
    ksv_status status = ksv_get(
        lookup->index, lookup->list.words, lookup->list.count, &options,
        visit_record, lookup, &lookup->receipt, lookup->receipts, &error);
    finish_count(lookup);
    if (status != KSV_OK && !lookup->record_failed)
        lookup->error = error;
    return status;
}

static ksv_status has_batch(key_lookup *lookup)
{
    size_t count = lookup->list.count;
    lookup->answers =
        resize_memory(lookup->answers, count, sizeof lookup->answers[0]);
    ksv_status status = ksv_has(
        lookup->index, lookup->list.words, count, lookup->request->filters_only,
        lookup->answers, &lookup->receipt, lookup->receipts, &lookup->error);
    for (size_t i = 0; i < count && status == KSV_OK; i++) {
        answer_key(lookup, &lookup->list.words[i], lookup->answers[i]);
        if (!output_is_good(lookup->out))
            status = KSV_ERROR_CANCELLED;
    }
    return status;
}

/* Before the first record, and only when a key was asked. */
static ksv_status print_header(key_lookup *lookup)
{
    byte_buffer header = {0};
    uint64_t length = 4096;
    ksv_status status;
    do {
        byte_buffer_reserve(&header, (size_t)length);
        status =
            ksv_index_header(lookup->index, header.data, header.capacity_bytes,
                             &length, &lookup->error);
    } while (status == KSV_OK && length > header.capacity_bytes);
    if (status == KSV_OK && length > 0) {
        output_add(lookup->out, header.data, (size_t)length);
        output_add_byte(lookup->out, '\n');
    }
    byte_buffer_free(&header);
    return status;
}

static void explain_batch(key_lookup *lookup)
{
    if (lookup->receipts == NULL)
        return;
    if (lookup->out->is_terminal)
        output_flush(lookup->out);
    for (size_t i = 0; i < lookup->list.count; i++)
        receipt_output_key(&lookup->list.words[i], &lookup->receipts[i],
                           lookup->request->as_json);
}

static ksv_status run_batch(key_lookup *lookup)
{
    const lookup_request *request = lookup->request;
    size_t count = lookup->list.count;
    if (lookup->header_is_due) {
        lookup->header_is_due = false;
        ksv_status status = print_header(lookup);
        if (status != KSV_OK)
            return status;
    }
    if (request->explain) {
        lookup->receipts =
            resize_memory(lookup->receipts, count, sizeof lookup->receipts[0]);
        memset(lookup->receipts, 0, count * sizeof lookup->receipts[0]);
    }
    bool by_has = request->form == LOOKUP_KEYS && !request->linear_scan;
    ksv_status status = by_has ? has_batch(lookup) : get_batch(lookup);
    if (status == KSV_OK)
        explain_batch(lookup);
    return status;
}

/* Batch after batch; what is answered goes out before the next key is waited
 * for. */
static int run_batches(key_lookup *lookup)
{
    while (keylist_next(&lookup->list)) {
        if (lookup->list.count == 0)
            return lookup->some_missing ? 1 : 0;
        ksv_status status = run_batch(lookup);
        if (!output_is_good(lookup->out))
            return 2;
        if (status != KSV_OK) {
            output_flush(lookup->out);
            message_error(&lookup->error, lookup->cli->index_hint);
            return 2;
        }
        if (lookup->list.is_waiting) {
            output_flush(lookup->out);
            message_flush();
        }
    }
    return 2;
}

static int run_range(key_lookup *lookup)
{
    const lookup_request *request = lookup->request;
    bool is_keys = request->form == LOOKUP_KEYS;
    range_form form = RANGE_RECORDS;
    if (is_keys)
        form = RANGE_KEYS;
    else if (request->form == LOOKUP_COUNTS)
        form = RANGE_COUNTS;
    else if (request->form == LOOKUP_LOCATIONS)
        form = RANGE_LOCATIONS;
    range_print print = {.form = form,
                         .as_json = request->as_json,
                         .nul_ended = request->nul_ended,
                         .once = request->first_only || is_keys,
                         .linear_scan = request->linear_scan,
                         .stats = request->stats};
    if (lookup->header_is_due && print_header(lookup) != KSV_OK) {
        message_error(&lookup->error, lookup->cli->index_hint);
        return 2;
    }
    return range_run(lookup->cli, lookup->index, &request->range, &print);
}

static keylist_source key_source(const key_lookup *lookup)
{
    const lookup_request *request = lookup->request;
    return (keylist_source){
        .arguments = lookup->cli->arguments,
        .argument_count = lookup->cli->argument_count,
        .file = request->keys_file,
        .nul_ended = request->nul_ended,
        .one_batch = request->linear_scan,
    };
}

/* Keys that are all asked for when the command begins share the looks at the
 * data files; one that comes through a pipe may be asked for because a file has
 * just changed. */
static uint64_t trust_ns(const key_lookup *lookup)
{
    keylist_source source = key_source(lookup);
    return keylist_is_complete(&source) ? SHARED_LOOK_NS : 0;
}

static int run_opened(key_lookup *lookup)
{
    const lookup_request *request = lookup->request;
    if (request->range.option != NULL)
        return run_range(lookup);
    int status = 2;
    keylist_source source = key_source(lookup);
    if (keylist_open(&lookup->list, &source))
        status = run_batches(lookup);
    if (request->stats && status < 2)
        receipt_output_sum(&lookup->receipt, lookup->list.blank_lines,
                           request->as_json);
    keylist_close(&lookup->list);
    return status;
}

int lookup_run(command_line *cli, const lookup_request *request)
{
    key_lookup lookup = {
        .request = request,
        .cli = cli,
        .out = cli->out,
        .header_is_due = request->with_header && !cli->is_quiet,
        .error = {.byte_offset = KSV_NO_OFFSET},
    };
    if (!check_request(cli, request))
        return cli->status;
    if (!index_access_open(cli, trust_ns(&lookup), &lookup.index))
        return 2;
    int status = run_opened(&lookup);
    free(lookup.answers);
    free(lookup.receipts);
    ksv_index_close(lookup.index);
    return status;
}
