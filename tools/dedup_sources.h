/* SPDX-License-Identifier: MIT */
/* What the verb dedup reads: files, pipes and standard input. */
#ifndef KSV_TOOLS_DEDUP_SOURCES_H
#define KSV_TOOLS_DEDUP_SOURCES_H

#include <stdbool.h>

#include <keysieve/dedup.h>

#include "cli.h"
#include "output.h"

/* A source that is read once. */
typedef struct dedup_source {
    output *out; /* handed on before waiting */
    const char *name;
    int fd; /* -1: not opened yet */
} dedup_source;

typedef struct dedup_sources {
    ksv_dedup_input *inputs;
    dedup_source *sources; /* one an input; unused for regular files */
    size_t count;
} dedup_sources;

/* The files of the command line, "-" for standard input; without any that. */
void dedup_sources_open(dedup_sources *sources, const command_line *cli);
void dedup_sources_close(dedup_sources *sources);

#endif
