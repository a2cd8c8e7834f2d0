/* SPDX-License-Identifier: MIT */
/* The progress line of a long run, and the way out of it. */
#ifndef KSV_TOOLS_PROGRESS_H
#define KSV_TOOLS_PROGRESS_H

#include <stdbool.h>

#include <keysieve/builder.h>

typedef enum progress_mode {
    PROGRESS_AUTO = 0, /* when standard error is a terminal */
    PROGRESS_ALWAYS = 1,
    PROGRESS_NEVER = 2
} progress_mode;

typedef struct progress_line {
    bool is_shown;
} progress_line;

void progress_open(progress_line *progress, progress_mode mode, bool is_quiet);

/* A ksv_progress_fn with the progress as its ctx: false after a signal. */
bool progress_tell(void *ctx, const ksv_progress *state);

/* Erases the line. */
void progress_close(progress_line *progress);

#endif
