/* SPDX-License-Identifier: MIT */
/* keysieve dedup: pass on the first record of each key. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <keysieve/filter.h>

#include "byte_buffer.h"
#include "commands.h"
#include "dedup_report.h"
#include "dedup_request.h"
#include "dedup_sources.h"
#include "huge_memory.h"
#include "interrupt.h"
#include "message.h"
#include "text.h"

static const cli_option OPTIONS[] = {
    {'f', "format", "FORMAT", "csv tsv jsonl lines fasta fastq fixed"},
    {'k', "key", "KEY", "as for build, with its -d, --quote and so on"},
    {FORMAT_KEY_SEPARATOR, "key-separator", "S", NULL},
    {'d', "delimiter", "C", NULL},
    {FORMAT_QUOTE, "quote", "C", NULL},
    {FORMAT_ESCAPE, "escape", "HOW", NULL},
    {FORMAT_NO_HEADER, "no-header", NULL, NULL},
    {FORMAT_RECORD_END, "record-end", "END", NULL},
    {FORMAT_RECORD_SIZE, "record-size", "N", NULL},
    {FORMAT_KEEP_PADDING, "keep-padding", NULL, NULL},
    {DEDUP_MEMORY, "memory", "SIZE", "bound on memory (default 1G)"},
    {DEDUP_TEMP_DIR, "temp-dir", "DIR", "for the rest ($TMPDIR, else /tmp)"},
    {DEDUP_APPROXIMATE, "approximate", NULL, "by filters alone, with:"},
    {DEDUP_EXPECT, "expect", "N", "keys to expect (in a window)"},
    {DEDUP_FPR, "fpr", "P", "fresh keys taken for seen (default 0.001)"},
    {DEDUP_WINDOW, "window", "TIME", "forget keys after 24h, 90m, 30s, 7d"},
    {DEDUP_TIME_FIELD, "time-field", "KEY", "where a record has its time"},
    {DEDUP_GENERATIONS, "generations", "N", "of a window (default 8)"},
    {DEDUP_STATE, "state", "DIR", "keep what was seen for the next run"},
    {DEDUP_CHECKPOINT, "checkpoint", "WHEN", "after N records, 5s or N,5s"},
    {DEDUP_HASH, "hash", "HASH", "xxh3 (default), or siphash"},
    {DEDUP_STRICT, "strict", NULL, "a record without key is an error"},
    {DEDUP_BAD_RECORDS, "bad-records", "HOW", "fail (default) or skip"},
    {DEDUP_TRAILING_GARBAGE, "trailing-garbage", "HOW",
     "fail (default) or ignore"},
    {CLI_QUIET, "quiet", NULL, "no report at the end"},
    {0},
};

static ksv_status output_status(const output *out, ksv_error *error)
{
    if (output_is_good(out))
        return KSV_OK;
    /* The tool says what is wrong with its output when it closes it. */
    error->status = KSV_ERROR_CANCELLED;
    error->path[0] = '\0';
    error->text[0] = '\0';
    return KSV_ERROR_CANCELLED;
}

static ksv_status write_record(void *ctx, const void *data, size_t size_bytes,
                               ksv_error *error)
{
    command_line *cli = ctx;
    ksv_error unused;
    output_add(cli->out, data, size_bytes);
    return output_status(cli->out, error != NULL ? error : &unused);
}

static ksv_status hand_on(void *ctx, ksv_error *error)
{
    command_line *cli = ctx;
    ksv_error unused;
    struct stat st;
    output_flush(cli->out);
    /* A state must not know more than a file that lost power. */
    if (output_is_good(cli->out) && fstat(cli->out->fd, &st) == 0 &&
        S_ISREG(st.st_mode) && fsync(cli->out->fd) != 0 && errno != EINVAL)
        cli->out->os_errno = errno;
    return output_status(cli->out, error != NULL ? error : &unused);
}

static ksv_status hand_on_without_state(void *ctx, ksv_error *error)
{
    command_line *cli = ctx;
    ksv_error unused;
    output_flush(cli->out);
    return output_status(cli->out, error != NULL ? error : &unused);
}

static bool goes_on(void *ctx)
{
    (void)ctx;
    return interrupt_signal() == 0;
}

static void tell_problem(void *ctx, const ksv_error *problem)
{
    (void)ctx;
    message_problem(problem, true);
}

/* A directory of its own for what does not fit in memory; without one it has
 * to fit. */
static void make_temp_directory(dedup_request *request, byte_buffer *path)
{
    const char *parent = request->temp_directory;
    if (parent == NULL)
        parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] == '\0')
        parent = "/tmp";
    byte_buffer_add_text(path, parent);
    byte_buffer_add(path, "/keysieve-dedup.XXXXXX", 23);
    if (mkdtemp(path->data) != NULL)
        request->options.spill_directory = path->data;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int finish(const command_line *cli, const ksv_dedup *dedup,
                  ksv_status status, const ksv_error *error)
{
    if (status == KSV_OK && interrupt_signal() == 0)
        return 0;
    if (interrupt_signal() != 0 &&
        (status == KSV_OK || status == KSV_ERROR_CANCELLED)) {
        message_text("stopped");
        return 128 + interrupt_signal();
    }
    if (dedup == NULL || output_is_good(cli->out))
        message_error(error, NULL);
    return 2;
}

static int run_dedup(dedup_request *request, command_line *cli)
{
    dedup_sources sources;
    ksv_dedup *dedup;
    ksv_dedup_report report;
    ksv_dedup_info info;
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    double start = now_seconds();
    ksv_status status = ksv_dedup_open(&request->options, &dedup, &error);
    if (status != KSV_OK)
        return finish(cli, NULL, status, &error);
    dedup_sources_open(&sources, cli);
    status = ksv_dedup_run(dedup, sources.inputs, sources.count,
                           &request->stream, &report, &error);
    int exit_status = finish(cli, dedup, status, &error);
    ksv_dedup_get_info(dedup, &info);
    if (!cli->is_quiet && output_is_good(cli->out))
        dedup_report_print(&request->options, &report, &info,
                           now_seconds() - start);
    dedup_sources_close(&sources);
    ksv_dedup_close(dedup);
    return exit_status;
}

static int run_request(dedup_request *request, command_line *cli)
{
    byte_buffer path = {0};
    bool has_state = request->options.state_directory != NULL;
    request->stream.write = write_record;
    request->stream.flush = has_state ? hand_on : hand_on_without_state;
    request->stream.goes_on = goes_on;
    request->stream.problem = tell_problem;
    request->stream.ctx = cli;
    interrupt_watch();
    if (!has_state && !request->options.approximate)
        make_temp_directory(request, &path);
    int status = run_dedup(request, cli);
    if (request->options.spill_directory != NULL)
        rmdir(request->options.spill_directory);
    byte_buffer_free(&path);
    return status;
}

/* Filters that the machine has no memory for end the run before it begins. */
static bool check_memory(const ksv_dedup_options *options)
{
    ksv_filter_plan plan;
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    char size[TEXT_SHORT_BYTES];
    char there[TEXT_SHORT_BYTES];
    double fpr = options->fpr > 0 ? options->fpr : DEDUP_FPR_DEFAULT;
    if (!options->approximate)
        return true;
    if (ksv_filter_make_plan(options->expected_keys, fpr, 64, &plan, &error) !=
        KSV_OK) {
        message_error(&error, NULL);
        return false;
    }
    uint64_t machine_bytes = huge_memory_machine_bytes();
    if (plan.bits / 8 <= machine_bytes)
        return true;
    message_text("so many keys take %s of memory; this machine has %s",
                 text_format_size(size, (double)plan.bits / 8),
                 text_format_size(there, (double)machine_bytes));
    return false;
}

static int run_checked(dedup_request *request, command_line *cli)
{
    return check_memory(&request->options) ? run_request(request, cli) : 2;
}

static int run(command_line *cli)
{
    dedup_request request;
    dedup_request_open(&request);
    int status = dedup_request_parse(&request, cli) ? run_checked(&request, cli)
                                                    : cli->status;
    dedup_request_close(&request);
    return status;
}

const cli_verb COMMAND_DEDUP = {
    .name = "dedup",
    .usage = "[-f FORMAT] -k KEY [options] [FILE...]",
    .summary = "Pass on the first record of each key, of files or standard "
               "input.",
    .options = OPTIONS,
    .notes = "Example: keysieve dedup -k id events.csv > once.csv",
    .run = run,
};
