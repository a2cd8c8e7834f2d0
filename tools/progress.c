/* SPDX-License-Identifier: MIT */
/* The progress line of a long run, and the way out of it. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "buffer.h"
#include "interrupt.h"
#include "message.h"
#include "text.h"

#define DEFAULT_WIDTH 80

void progress_open(progress_line *progress, progress_mode mode, bool is_quiet)
{
    bool is_terminal = isatty(STDERR_FILENO) == 1;
    progress->is_shown = !is_quiet && (mode == PROGRESS_ALWAYS ||
                                       (mode == PROGRESS_AUTO && is_terminal));
    interrupt_watch();
}

/* One column less than the terminal has: some wrap at the last one. */
static size_t line_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        return size.ws_col - 1u;
    return DEFAULT_WIDTH - 1;
}

static void add_part(char *line, size_t capacity, const char *part)
{
    size_t used = strlen(line);
    snprintf(line + used, capacity - used, "%s%s", used > 0 ? "  " : "", part);
}

static void add_time_left(char *line, size_t capacity,
                          const ksv_progress *state, double bytes_a_second)
{
    char time[TEXT_SHORT_BYTES];
    char part[64];
    double left = (double)(state->bytes_total - state->bytes_done);
    if (bytes_a_second <= 0)
        return;
    /* Whole seconds: fractions would flicker. */
    double seconds = (double)(uint64_t)(left / bytes_a_second + 0.999);
    if (seconds < 60)
        snprintf(time, sizeof time, "%.0f s", seconds);
    else
        text_format_duration(time, seconds);
    snprintf(part, sizeof part, "%s left", time);
    add_part(line, capacity, part);
}

/* The name fills what is left of the line, if that is worth it; only ASCII, so
 * that bytes are columns. */
static void add_name(char *line, size_t capacity, size_t width,
                     const char *file)
{
    size_t used = strlen(line);
    byte_buffer name = {0};
    if (file == NULL || used + 12 > width || used + 12 > capacity)
        return;
    size_t room = width - used - 2;
    text_add_escaped(&name, file, strlen(file));
    buffer_add(&name, "", 1);
    for (char *c = name.data; *c != '\0'; c++) {
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    }
    size_t length = strlen(name.data);
    const char *shown = length > room ? name.data + length - room : name.data;
    add_part(line, capacity, shown);
    buffer_free(&name);
}

static void show(const ksv_progress *state)
{
    char line[512] = "";
    char part[64];
    size_t width = line_width();
    double done = (double)state->bytes_done;
    double seconds = (double)state->elapsed_ns / 1e9;
    double bytes_a_second = seconds > 0 ? done / seconds : 0;
    unsigned percent = 0;
    if (state->bytes_total > 0)
        percent = (unsigned)(100.0 * done / (double)state->bytes_total);
    snprintf(part, sizeof part, "%3u%%", percent > 100 ? 100 : percent);
    add_part(line, sizeof line, part);
    snprintf(part, sizeof part, "%.0f MB/s", bytes_a_second / 1e6);
    add_part(line, sizeof line, part);
    snprintf(part, sizeof part, "%" PRIu64 " records", state->records);
    add_part(line, sizeof line, part);
    if (state->bytes_total >= state->bytes_done)
        add_time_left(line, sizeof line, state, bytes_a_second);
    add_name(line, sizeof line, width, state->file);
    message_show_status(line, width);
}

bool progress_tell(void *ctx, const ksv_progress *state)
{
    const progress_line *progress = ctx;
    if (interrupt_signal() != 0)
        return false;
    if (progress->is_shown)
        show(state);
    return true;
}

void progress_close(progress_line *progress)
{
    if (progress->is_shown)
        message_show_status(NULL, 0);
}
