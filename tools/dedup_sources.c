/* SPDX-License-Identifier: MIT */
/* What the verb dedup reads: files, pipes and standard input. */
#include "dedup_sources.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "byte_buffer.h"
#include "interrupt.h"

/* For so long a source is waited for before others get a turn: checkpoints. */
#define WAIT_MS 200

static ksv_status fail(const dedup_source *source, const char *doing,
                       int reason, ksv_error *error)
{
    error->status = KSV_ERROR_IO;
    error->os_errno = reason;
    error->remedy = KSV_REMEDY_NONE;
    error->line = 0;
    error->byte_offset = KSV_NO_OFFSET;
    snprintf(error->path, sizeof error->path, "%s", source->name);
    snprintf(error->text, sizeof error->text, "%s: %s", doing,
             strerror(reason));
    return KSV_ERROR_IO;
}

/* What was passed on so far should not wait for what comes next. */
static bool wait_for_bytes(const dedup_source *source)
{
    struct pollfd wanted = {.fd = source->fd, .events = POLLIN};
    if (poll(&wanted, 1, 0) != 0)
        return true;
    output_flush(source->out);
    return poll(&wanted, 1, WAIT_MS) != 0 && interrupt_signal() == 0;
}

static ksv_status read_source(void *ctx, void *buffer, size_t size_bytes,
                              size_t *got_bytes, bool *at_end, ksv_error *error)
{
    dedup_source *source = ctx;
    *got_bytes = 0;
    *at_end = interrupt_signal() != 0;
    if (source->fd < 0)
        source->fd = open(source->name, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0)
        return fail(source, "cannot open", errno, error);
    if (*at_end || !wait_for_bytes(source))
        return KSV_OK;
    ssize_t got = read(source->fd, buffer, size_bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return KSV_OK;
    if (got < 0)
        return fail(source, "cannot read", errno, error);
    *got_bytes = (size_t)got;
    *at_end = got == 0;
    return KSV_OK;
}

static void add(dedup_sources *sources, const char *name, output *out)
{
    size_t i = sources->count++;
    struct stat st;
    bool is_stdin = strcmp(name, "-") == 0;
    bool is_pipe = !is_stdin && stat(name, &st) == 0 && !S_ISREG(st.st_mode) &&
                   !S_ISDIR(st.st_mode);
    sources->sources[i] =
        (dedup_source){.out = out, .name = name, .fd = is_stdin ? 0 : -1};
    sources->inputs[i] = (ksv_dedup_input){.name = name};
    if (is_stdin)
        sources->sources[i].name = "standard input";
    if (!is_stdin && !is_pipe)
        return;
    sources->inputs[i].name = sources->sources[i].name;
    sources->inputs[i].read = read_source;
    sources->inputs[i].ctx = &sources->sources[i];
}

void dedup_sources_open(dedup_sources *sources, const command_line *cli)
{
    size_t count = cli->argument_count > 0 ? cli->argument_count : 1;
    *sources = (dedup_sources){
        .inputs = resize_memory(NULL, count, sizeof *sources->inputs),
        .sources = resize_memory(NULL, count, sizeof *sources->sources),
    };
    for (size_t i = 0; i < cli->argument_count; i++)
        add(sources, cli->arguments[i], cli->out);
    if (cli->argument_count == 0)
        add(sources, "-", cli->out);
}

void dedup_sources_close(dedup_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->sources[i].fd > STDIN_FILENO)
            close(sources->sources[i].fd);
    }
    free(sources->inputs);
    free(sources->sources);
}
