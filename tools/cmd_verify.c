/* SPDX-License-Identifier: MIT */
/* keysieve verify: check every byte of an index. */
#include <inttypes.h>

#include <keysieve/verify.h>

#include "commands.h"
#include "interrupt.h"
#include "message.h"
#include "progress.h"
#include "text.h"

enum { VERIFY_DATA = 256, VERIFY_PROGRESS };

static const cli_option OPTIONS[] = {
    CLI_OPTION_INDEX,
    {VERIFY_DATA, "data", NULL, "read the data files too and compare"},
    {VERIFY_PROGRESS, "progress", "WHEN",
     "auto (default: on a terminal), always, never"},
    {CLI_QUIET, "quiet", NULL, "no summary, no progress"},
    {0},
};

typedef struct verify_request {
    bool data;
    progress_mode progress;
    unsigned told; /* problems */
} verify_request;

static bool parse(command_line *cli, verify_request *request)
{
    const char *value;
    int choice;
    for (;;) {
        switch (cli_next(cli, &value)) {
        case CLI_END:
            return true;
        case CLI_STOP:
            return false;
        case CLI_ARGUMENT:
            return cli_fail(cli, "verify takes no argument, but '%s' was given",
                            cli->arguments[0]);
        case VERIFY_DATA:
            request->data = true;
            break;
        case VERIFY_PROGRESS:
            if (!cli_parse_choice(cli, "--progress", value, "auto,always,never",
                                  &choice))
                return false;
            request->progress = (progress_mode)choice;
            break;
        default:
            break;
        }
    }
}

static void tell_problem(void *ctx, const ksv_error *problem, bool is_warning)
{
    verify_request *request = ctx;
    if (!is_warning)
        request->told++;
    message_problem(problem, is_warning);
}

static void print_summary(output *out, const ksv_verify_report *report,
                          bool with_data)
{
    char size[TEXT_SHORT_BYTES];
    output_add_format(
        out, "%" PRIu64 " file%s of the index, %s, %" PRIu64 " entries checked",
        report->files_checked, report->files_checked == 1 ? "" : "s",
        text_format_size(size, (double)report->bytes_checked),
        report->entries_checked);
    if (with_data)
        output_add_format(out, "; %" PRIu64 " records compared",
                          report->records_compared);
    if (report->problems == 0)
        output_add_text(out, ": all is right\n");
    else
        output_add_format(out, ": %" PRIu64 " problem%s\n", report->problems,
                          report->problems == 1 ? "" : "s");
}

/* What repairs the first problem, once for all of them. */
static int finish(const command_line *cli, const verify_request *request,
                  ksv_status status, const ksv_error *error)
{
    if (status == KSV_OK)
        return 0;
    if (status == KSV_ERROR_CANCELLED && interrupt_signal() != 0) {
        message_text("stopped");
        return 128 + interrupt_signal();
    }
    if (request->told == 0)
        message_error(error, cli->index_hint);
    else
        message_remedy(error, cli->index_hint);
    return 2;
}

static int run(command_line *cli)
{
    verify_request request = {0};
    ksv_verify_options options;
    ksv_verify_report report = {0};
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    progress_line progress;
    if (!parse(cli, &request))
        return cli->status;
    progress_open(&progress, request.progress, cli->is_quiet);
    ksv_verify_options_init(&options);
    options.data = request.data;
    options.problem = tell_problem;
    options.problem_ctx = &request;
    options.progress = progress_tell;
    options.progress_ctx = &progress;
    ksv_status status =
        ksv_verify(cli->index_directory, &options, &report, &error);
    progress_close(&progress);
    bool is_checked = report.files_checked > 0 && interrupt_signal() == 0;
    if (is_checked && !cli->is_quiet)
        print_summary(cli->out, &report, request.data);
    output_flush(cli->out);
    return finish(cli, &request, status, &error);
}

const cli_verb COMMAND_VERIFY = {
    .name = "verify",
    .usage = "[-i DIR] [--data] [-q]",
    .summary = "Check every byte of the index; each problem on a line.",
    .options = OPTIONS,
    .notes = "Exit status: 0 all is right, 2 not.\n"
             "Example: keysieve verify --data",
    .run = run,
};
