/* SPDX-License-Identifier: MIT */
/* What lookups cost, on standard error. */
#include "receipt_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "text.h"

typedef struct fact {
    const char *member; /* of JSON */
    const char *label;  /* for people */
    uint64_t value;
} fact;

#define FACT_COUNT 12

static void list_facts(fact facts[FACT_COUNT], const ksv_receipt *receipt,
                       uint64_t blank_lines)
{
    const fact list[FACT_COUNT] = {
        {"keys", "keys asked", receipt->keys},
        {"found", "keys found", receipt->found},
        {"blank_lines", "blank lines skipped", blank_lines},
        {"filter_probes", "filters asked", receipt->filter_probes},
        {"filter_positives", "filters saying maybe", receipt->filter_positives},
        {"false_positives", "of them wrong", receipt->false_positives},
        {"table_pages_read", "table pages read", receipt->table_pages_read},
        {"data_reads", "data reads", receipt->data_reads},
        {"bytes_read", "bytes read", receipt->bytes_read},
        {"bytes_inflated", "bytes inflated", receipt->bytes_inflated},
        {"files_opened", "files opened", receipt->files_opened},
        {"ns", "time", receipt->elapsed_ns},
    };
    memcpy(facts, list, sizeof list);
}

static void add_json(const ksv_key *key, const ksv_receipt *receipt,
                     uint64_t blank_lines)
{
    fact facts[FACT_COUNT];
    output line;
    list_facts(facts, receipt, blank_lines);
    output_open_sink(&line, message_add_raw);
    output_add_byte(&line, '{');
    if (key != NULL)
        json_add_bytes(&line, true, "key", key->data, key->bytes);
    for (int i = 0; i < FACT_COUNT; i++)
        json_add_number(&line, i == 0 && key == NULL, facts[i].member,
                        facts[i].value);
    output_add_text(&line, "}\n");
    output_flush(&line);
}

static void add_count(byte_buffer *line, uint64_t count, const char *what)
{
    char text[64];
    snprintf(text, sizeof text, ", %" PRIu64 " %s%s", count, what,
             count == 1 ? "" : "s");
    buffer_add_text(line, text);
}

static double microseconds(const ksv_receipt *receipt)
{
    return (double)receipt->elapsed_ns / 1e3;
}

void receipt_output_key(const ksv_key *key, const ksv_receipt *receipt,
                        bool as_json)
{
    if (as_json) {
        add_json(key, receipt, 0);
        return;
    }
    char text[128];
    byte_buffer line = {0};
    text_add_escaped(&line, key->data, key->bytes);
    buffer_add_text(&line, receipt->found > 0 ? ": found" : ": not found");
    add_count(&line, receipt->filter_probes, "filter");
    snprintf(text, sizeof text, " asked (%" PRIu64 " maybe, %" PRIu64 " wrong)",
             receipt->filter_positives, receipt->false_positives);
    buffer_add_text(&line, text);
    add_count(&line, receipt->table_pages_read, "table page");
    add_count(&line, receipt->data_reads, "data read");
    add_count(&line, receipt->bytes_read, "byte");
    if (receipt->bytes_inflated > 0) {
        add_count(&line, receipt->bytes_inflated, "byte");
        buffer_add_text(&line, " inflated");
    }
    add_count(&line, receipt->files_opened, "file");
    snprintf(text, sizeof text, " opened, %.1f us\n", microseconds(receipt));
    buffer_add_text(&line, text);
    message_add_raw(line.data, line.used_bytes);
    buffer_free(&line);
}

void receipt_output_sum(const ksv_receipt *receipt, uint64_t blank_lines,
                        bool as_json)
{
    if (as_json) {
        add_json(NULL, receipt, blank_lines);
        return;
    }
    fact facts[FACT_COUNT];
    list_facts(facts, receipt, blank_lines);
    for (int i = 0; i < FACT_COUNT - 1; i++) {
        char line[96];
        int length = snprintf(line, sizeof line, "%-22s%" PRIu64 "\n",
                              facts[i].label, facts[i].value);
        message_add_raw(line, (size_t)length);
    }
    char line[96];
    int length = snprintf(line, sizeof line, "%-22s%.1f us", "time",
                          microseconds(receipt));
    message_add_raw(line, (size_t)length);
    double per_key =
        receipt->keys > 0 ? microseconds(receipt) / (double)receipt->keys : 0;
    length = snprintf(line, sizeof line, ", %.1f us a key\n", per_key);
    message_add_raw(line, (size_t)length);
}
