/* SPDX-License-Identifier: MIT */
/* keysieve info: what the index holds and what it costs. */
#include <inttypes.h>
#include <string.h>

#include <keysieve/index.h>

#include "byte_buffer.h"
#include "commands.h"
#include "index_access.h"
#include "json.h"
#include "message.h"
#include "text.h"

enum { INFO_JSON = 256 };

static const cli_option OPTIONS[] = {
    CLI_OPTION_INDEX,
    {INFO_JSON, "json", NULL, "one JSON object"},
    {0},
};

static bool parse(command_line *cli, bool *as_json)
{
    const char *value;
    for (;;) {
        switch (cli_next(cli, &value)) {
        case CLI_END:
            return cli_refuse_arguments(cli);
        case CLI_STOP:
            return false;
        case INFO_JSON:
            *as_json = true;
            break;
        default:
            break;
        }
    }
}

static const char *state_name(ksv_file_state state)
{
    switch (state) {
    case KSV_STATE_STALE:
        return "stale";
    case KSV_STATE_MISSING:
        return "missing";
    case KSV_STATE_OK:
        break;
    }
    return "ok";
}

static void print_json_file(output *out, const ksv_index_file *file)
{
    output_add_byte(out, '{');
    json_add_text(out, true, "file", file->file);
    json_add_number(out, false, "bytes", file->bytes);
    json_add_number(out, false, "records", file->records);
    json_add_number(out, false, "records_without_key",
                    file->records_without_key);
    json_add_number(out, false, "bad_records", file->bad_records);
    json_add_text(out, false, "state", state_name(file->state));
    output_add_byte(out, '}');
}

typedef struct pattern_output {
    output *out;
    bool is_later; /* than the first */
} pattern_output;

static bool print_json_pattern(void *ctx, const char *pattern)
{
    pattern_output *p = ctx;
    output_add_text(p->out, p->is_later ? ",{" : "{");
    json_add_text(p->out, true, "pattern", pattern);
    output_add_byte(p->out, '}');
    p->is_later = true;
    return true;
}

/* Up to the highest tier that holds a segment. */
static size_t tier_count(const ksv_index_info *info)
{
    size_t count = KSV_INFO_TIERS;
    while (count > 0 && info->tier_segments[count - 1] == 0)
        count--;
    return count;
}

static void print_json(output *out, const ksv_index_info *info)
{
    char fpr[TEXT_SHORT_BYTES];
    output_add_byte(out, '{');
    json_add_number(out, true, "records", info->records);
    json_add_number(out, false, "records_without_key",
                    info->records_without_key);
    json_add_number(out, false, "bad_records", info->bad_records);
    json_add_number(out, false, "distinct_keys", info->distinct_keys);
    json_add_text(out, false, "format", ksv_format_name(info->format));
    json_add_text(out, false, "key", info->key);
    json_add_text(out, false, "organisation",
                  index_access_organisation_name(info->organisation));
    json_add_text(out, false, "hash", index_access_hash_name(info->hash));
    json_add_number(out, false, "hash_bits", info->hash_bits);
    output_add_format(out, ",\"fpr\":%s", text_format_shortest(fpr, info->fpr));
    json_add_number(out, false, "generation", info->generation);
    json_add_number(out, false, "data_bytes", info->data_bytes);
    json_add_number(out, false, "index_bytes", info->index_bytes);
    json_add_number(out, false, "table_bytes", info->table_bytes);
    json_add_number(out, false, "filter_bytes", info->filter_bytes);
    json_add_number(out, false, "file_filter_bytes", info->file_filter_bytes);
    json_add_number(out, false, "segments", info->segments);
    output_add_text(out, ",\"tiers\":[");
    for (size_t i = 0; i < tier_count(info); i++)
        output_add_format(out, "%s%" PRIu64, i > 0 ? "," : "",
                          info->tier_segments[i]);
    output_add_text(out, "]");
    json_add_number(out, false, "dead_records", info->dead_records);
    output_add_text(out, ",\"files\":[");
    for (size_t i = 0; i < info->file_count; i++) {
        if (i > 0)
            output_add_byte(out, ',');
        print_json_file(out, &info->files[i]);
    }
    output_add_byte(out, ']');
}

static void print_escaped(output *out, const char *text)
{
    byte_buffer escaped = {0};
    text_add_escaped(&escaped, text, strlen(text));
    output_add(out, escaped.data, escaped.used_bytes);
    byte_buffer_free(&escaped);
}

static void print_label(output *out, const char *label)
{
    output_add_format(out, "%-15s", label);
}

static void print_segments(output *out, const ksv_index_info *info)
{
    char size[TEXT_SHORT_BYTES];
    size_t tiers = tier_count(info);
    if (info->file_filter_bytes > 0) {
        print_label(out, "  file filters");
        output_add_format(
            out, "%s\n",
            text_format_size(size, (double)info->file_filter_bytes));
    }
    print_label(out, "  segments");
    output_add_format(out, "%" PRIu64, info->segments);
    for (size_t i = 0; i < tiers && tiers > 1; i++)
        output_add_format(out, "%s%" PRIu64 " in tier %zu", i > 0 ? ", " : " (",
                          info->tier_segments[i], i);
    output_add_format(out, "%s, generation %" PRIu64 "\n", tiers > 1 ? ")" : "",
                      info->generation);
    if (info->dead_records > 0) {
        print_label(out, "  dead records");
        output_add_format(out, "%" PRIu64 ", until a merge drops them\n",
                          info->dead_records);
    }
}

static void print_sizes(output *out, const ksv_index_info *info)
{
    char size[TEXT_SHORT_BYTES];
    char fpr[TEXT_SHORT_BYTES];
    uint64_t keyed = info->records - info->records_without_key;
    double per_record = keyed > 0 ? 1 / (double)keyed : 0;
    double per_key = info->filter_keys > 0 ? 1 / (double)info->filter_keys : 0;
    print_label(out, "index");
    output_add_format(out, "%s, %.2f bytes a key",
                      text_format_size(size, (double)info->index_bytes),
                      (double)info->index_bytes * per_record);
    if (info->data_bytes > 0)
        output_add_format(out, ", %.2g%% of the data",
                          100 * (double)info->index_bytes /
                              (double)info->data_bytes);
    output_add_byte(out, '\n');
    print_label(out, "  tables");
    output_add_format(out, "%s, %.2f bytes a key, %s, %s of %u bits\n",
                      text_format_size(size, (double)info->table_bytes),
                      (double)info->table_bytes * per_record,
                      index_access_organisation_name(info->organisation),
                      index_access_hash_name(info->hash), info->hash_bits);
    print_label(out, "  filters");
    output_add_format(out, "%s, %.2f bits a key, false-positive rate %s\n",
                      text_format_size(size, (double)info->filter_bytes),
                      (double)info->filter_bits * per_key,
                      text_format_shortest(fpr, info->fpr));
    print_segments(out, info);
}

static bool print_pattern(void *ctx, const char *pattern)
{
    output *out = ((pattern_output *)ctx)->out;
    print_label(out, "watch pattern");
    print_escaped(out, pattern);
    output_add_byte(out, '\n');
    return true;
}

static void print_files(output *out, const ksv_index_info *info)
{
    output_add_format(out, "\n%-8s%14s%14s%18s  %s\n", "state", "records",
                      "without key", "bytes", "file");
    for (size_t i = 0; i < info->file_count; i++) {
        const ksv_index_file *file = &info->files[i];
        output_add_format(out, "%-8s%14" PRIu64 "%14" PRIu64 "%18" PRIu64 "  ",
                          state_name(file->state), file->records,
                          file->records_without_key, file->bytes);
        print_escaped(out, file->file);
        output_add_byte(out, '\n');
    }
}

static void print_text(output *out, const ksv_index_info *info)
{
    char size[TEXT_SHORT_BYTES];
    print_label(out, "data");
    output_add_format(out, "%s in %zu file%s, %s, key ",
                      text_format_size(size, (double)info->data_bytes),
                      info->file_count, info->file_count == 1 ? "" : "s",
                      ksv_format_name(info->format));
    print_escaped(out, info->key);
    output_add_byte(out, '\n');
    print_label(out, "records");
    output_add_format(out, "%" PRIu64 ", %" PRIu64 " without key",
                      info->records, info->records_without_key);
    if (info->bad_records > 0)
        output_add_format(out, "; %" PRIu64 " bad ones skipped",
                          info->bad_records);
    output_add_byte(out, '\n');
    print_label(out, "distinct keys");
    output_add_format(out, "%" PRIu64 "\n", info->distinct_keys);
    print_sizes(out, info);
}

static ksv_status print_all(output *out, ksv_index *index, bool as_json,
                            ksv_error *error)
{
    ksv_index_info info;
    pattern_output patterns = {out, false};
    ksv_status status = ksv_index_get_info(index, &info, error);
    if (status != KSV_OK)
        return status;
    if (as_json) {
        print_json(out, &info);
        output_add_text(out, ",\"watch_patterns\":[");
        status = ksv_index_watch_patterns(index, print_json_pattern, &patterns,
                                          error);
        output_add_text(out, "]}\n");
        return status;
    }
    print_text(out, &info);
    status = ksv_index_watch_patterns(index, print_pattern, &patterns, error);
    print_files(out, &info);
    return status;
}

static int run(command_line *cli)
{
    ksv_index *index;
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    bool as_json = false;
    if (!parse(cli, &as_json))
        return cli->status;
    if (!index_access_open(cli, 0, &index))
        return 2;
    ksv_status status = print_all(cli->out, index, as_json, &error);
    if (status != KSV_OK)
        message_error(&error, cli->index_hint);
    ksv_index_close(index);
    return status == KSV_OK ? 0 : 2;
}

const cli_verb COMMAND_INFO = {
    .name = "info",
    .usage = "[-i DIR] [--json]",
    .summary = "What the index holds, what it costs, and the state of its "
               "files.",
    .options = OPTIONS,
    .notes = "Example: keysieve info --json | jq .files",
    .run = run,
};
