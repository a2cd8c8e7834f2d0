/* SPDX-License-Identifier: MIT */
/* What a build did, on standard error, a line a fact. */
#include "build_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "text.h"

static void begin_line(byte_buffer *lines, const char *label)
{
    char text[32];
    snprintf(text, sizeof text, "%-21s", label);
    buffer_add_text(lines, text);
}

static void add_count(byte_buffer *lines, const char *label, uint64_t count)
{
    char text[32];
    begin_line(lines, label);
    snprintf(text, sizeof text, "%" PRIu64, count);
    buffer_add_text(lines, text);
}

static void add_files(byte_buffer *lines, const ksv_build_report *report)
{
    const struct {
        size_t count;
        const char *what;
    } parts[] = {
        {report->files_unchanged, "unchanged"},
        {report->files_failed, "failed"},
        {report->files_dropped, "dropped"},
    };
    char text[64];
    begin_line(lines, "files");
    snprintf(text, sizeof text, "%zu indexed", report->files_indexed);
    buffer_add_text(lines, text);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].count == 0)
            continue;
        snprintf(text, sizeof text, ", %zu %s", parts[i].count, parts[i].what);
        buffer_add_text(lines, text);
    }
    buffer_add_text(lines, "\n");
}

/* "records without key  12, the first in a.csv at byte 345" */
static void add_placed_count(byte_buffer *lines, const char *label,
                             uint64_t count, const ksv_place *first)
{
    char text[48];
    add_count(lines, label, count);
    if (count > 0 && first->path[0] != '\0') {
        buffer_add_text(lines, ", the first in ");
        text_add_escaped(lines, first->path, strlen(first->path));
        snprintf(text, sizeof text, " at byte %" PRIu64, first->offset);
        buffer_add_text(lines, text);
    }
    buffer_add_text(lines, "\n");
}

static void add_speed(byte_buffer *lines, const ksv_build_report *report)
{
    char size[TEXT_SHORT_BYTES];
    char time[TEXT_SHORT_BYTES];
    char text[128];
    double bytes = (double)report->data_bytes;
    double seconds = (double)report->elapsed_ns / 1e9;
    begin_line(lines, "data read");
    snprintf(text, sizeof text, "%s in %s, %.1f MB/s\n",
             text_format_size(size, bytes), text_format_duration(time, seconds),
             seconds > 0 ? bytes / seconds / 1e6 : 0);
    buffer_add_text(lines, text);
}

static void add_sizes(byte_buffer *lines, const ksv_build_report *report)
{
    char size[TEXT_SHORT_BYTES];
    char text[128];
    if (report->index_keyed_records > 0) {
        begin_line(lines, "index");
        snprintf(text, sizeof text, "%.2f bytes a key (%s)\n",
                 (double)report->index_bytes /
                     (double)report->index_keyed_records,
                 text_format_size(size, (double)report->index_bytes));
        buffer_add_text(lines, text);
    }
    if (report->filter_keys > 0) {
        begin_line(lines, "filter");
        snprintf(text, sizeof text, "%.2f bits a key (%s)\n",
                 8 * (double)report->filter_bytes / (double)report->filter_keys,
                 text_format_size(size, (double)report->filter_bytes));
        buffer_add_text(lines, text);
    }
}

void build_report_print(const ksv_build_report *report)
{
    byte_buffer lines = {0};
    add_files(&lines, report);
    add_count(&lines, "records", report->records);
    buffer_add_text(&lines, "\n");
    add_placed_count(&lines, "records without key", report->records_without_key,
                     &report->first_without_key);
    if (report->bad_records > 0)
        add_placed_count(&lines, "bad records skipped", report->bad_records,
                         &report->first_bad);
    add_count(&lines, "distinct keys", report->distinct_keys);
    buffer_add_text(&lines, "\n");
    add_speed(&lines, report);
    add_sizes(&lines, report);
    message_add_raw(lines.data, lines.used_bytes);
    message_flush();
    buffer_free(&lines);
}
