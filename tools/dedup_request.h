/* SPDX-License-Identifier: MIT */
/* The verb dedup: what is asked for on the command line. */
#ifndef KSV_TOOLS_DEDUP_REQUEST_H
#define KSV_TOOLS_DEDUP_REQUEST_H

#include <stdbool.h>

#include <keysieve/dedup.h>

#include "cli.h"
#include "format_arguments.h"

typedef struct dedup_request {
    ksv_dedup_options options;
    ksv_dedup_stream stream;
    format_arguments format;
    const char *temp_directory; /* the parent of one to be made */
} dedup_request;

enum {
    DEDUP_MEMORY = 600,
    DEDUP_TEMP_DIR,
    DEDUP_APPROXIMATE,
    DEDUP_EXPECT,
    DEDUP_FPR,
    DEDUP_WINDOW,
    DEDUP_TIME_FIELD,
    DEDUP_GENERATIONS,
    DEDUP_STATE,
    DEDUP_CHECKPOINT,
    DEDUP_HASH,
    DEDUP_STRICT,
    DEDUP_BAD_RECORDS,
    DEDUP_TRAILING_GARBAGE
};

void dedup_request_open(dedup_request *request);
void dedup_request_close(dedup_request *request);

/* Takes the command line; false after a message. */
bool dedup_request_parse(dedup_request *request, command_line *cli);

#endif
