/* SPDX-License-Identifier: MIT */
/* What the verbs get, has and keys do with --prefix and --range. */
#ifndef KSV_TOOLS_RANGE_LOOKUP_H
#define KSV_TOOLS_RANGE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/range.h>

#include "cli.h"

/* Ids of options without a letter: not those of lookup.h. */
enum { RANGE_PREFIX = 384, RANGE_BETWEEN, RANGE_LIMIT, RANGE_REVERSE };

#define RANGE_OPTIONS                                                     \
    {RANGE_PREFIX, "prefix", "P", "all keys that begin with P (sorted)"}, \
        {RANGE_BETWEEN, "range", "A..B",                                  \
         "all keys from A to B; A.. and ..B are open"},                   \
        {RANGE_REVERSE, "reverse", NULL, "of these the last one first"},  \
    {                                                                     \
        RANGE_LIMIT, "limit", "N", "of these no more than N lines"        \
    }

/* The values of these options. All zero: none was given. */
typedef struct range_request {
    const char *option; /* "--prefix" or "--range", or NULL */
    ksv_range range;
    char *words; /* A and B, one after the other */
    bool reverse;
    uint64_t limit; /* 0: none */
} range_request;

void range_request_free(range_request *request);

/* Takes one of the options above; false after a mistake. */
bool range_take_option(command_line *cli, int id, const char *value,
                       range_request *request);

/* cli_fail() unless what was given goes together. */
bool range_check(command_line *cli, const range_request *request);

/* What is printed of each record. */
typedef enum range_form {
    RANGE_RECORDS,
    RANGE_LOCATIONS,
    RANGE_COUNTS, /* of each key */
    RANGE_KEYS    /* as often as there are records, or once */
} range_form;

typedef struct range_print {
    range_form form;
    bool as_json;
    bool nul_ended;
    bool once; /* the first record of each key */
    bool linear_scan;
    bool stats;
} range_print;

/* Asks and prints. The exit status: 1 when there was no key. */
int range_run(command_line *cli, ksv_index *index, const range_request *request,
              const range_print *print);

#endif
