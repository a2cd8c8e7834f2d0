/* SPDX-License-Identifier: MIT */
/* What the verb dedup did, on standard error, a line a fact. */
#include "dedup_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "message.h"
#include "text.h"

static void add_line(byte_buffer *lines, const char *label, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

static void add_line(byte_buffer *lines, const char *label, const char *format,
                     ...)
{
    char text[160];
    va_list args;
    snprintf(text, sizeof text, "%-21s", label);
    byte_buffer_add_text(lines, text);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    byte_buffer_add_text(lines, text);
    byte_buffer_add_text(lines, "\n");
}

static void add_count(byte_buffer *lines, const char *label, uint64_t count)
{
    add_line(lines, label, "%" PRIu64, count);
}

static void add_memory(byte_buffer *lines, const ksv_dedup_options *options,
                       const ksv_dedup_info *info)
{
    char memory[TEXT_SHORT_BYTES];
    char disk[TEXT_SHORT_BYTES];
    text_format_size(memory, (double)info->memory_bytes);
    text_format_size(disk, (double)info->disk_bytes);
    if (options->approximate)
        add_line(lines, "filters",
                 "%s, %" PRIu64 " keys of %" PRIu64 " in %" PRIu64
                 " generations",
                 memory, info->filter_keys, info->filter_capacity,
                 info->generations);
    else if (info->runs > 0)
        add_line(lines, "keys", "%s of memory, %s on disk in %" PRIu64 " runs",
                 memory, disk, info->runs);
    if (options->approximate)
        add_line(lines, "false positives", "up to %.3g %% to expect",
                 info->fpr * 100);
}

static void warn_of_rate(const ksv_dedup_options *options,
                         const ksv_dedup_info *info)
{
    double wanted = options->fpr > 0 ? options->fpr : DEDUP_FPR_DEFAULT;
    if (options->approximate && info->fpr > wanted * 1.1)
        message_text("warning: more keys came than --expect said: up to %.3g "
                     "%% of the fresh ones were dropped, not %.3g %%",
                     info->fpr * 100, wanted * 100);
}

void dedup_report_print(const ksv_dedup_options *options,
                        const ksv_dedup_report *report,
                        const ksv_dedup_info *info, double seconds)
{
    byte_buffer lines = {0};
    char size[TEXT_SHORT_BYTES];
    char time[TEXT_SHORT_BYTES];
    double bytes = (double)report->bytes_read;
    add_count(&lines, "records", report->records);
    add_count(&lines, "passed", report->passed);
    add_count(&lines, "dropped", report->dropped);
    if (report->without_key > 0)
        add_line(&lines, "records without key", "%" PRIu64 ", all passed",
                 report->without_key);
    if (report->bad_records > 0)
        add_count(&lines, "bad records skipped", report->bad_records);
    if (report->without_time > 0)
        add_count(&lines, "records without time", report->without_time);
    if (info->late > 0)
        add_line(&lines, "late records", "%" PRIu64 ", a window or more behind",
                 info->late);
    add_line(&lines, "data read", "%s in %s, %.1f MB/s, %.2f million records/s",
             text_format_size(size, bytes), text_format_duration(time, seconds),
             seconds > 0 ? bytes / seconds / 1e6 : 0,
             seconds > 0 ? (double)report->records / seconds / 1e6 : 0);
    add_memory(&lines, options, info);
    message_add_raw(lines.data, lines.used_bytes);
    message_flush();
    byte_buffer_free(&lines);
    warn_of_rate(options, info);
}
