/* SPDX-License-Identifier: MIT */
/* What the verbs get and has share: ask for many keys, print the answers. */
#ifndef KSV_TOOLS_LOOKUP_H
#define KSV_TOOLS_LOOKUP_H

#include <stdbool.h>

#include "cli.h"
#include "range_lookup.h"

typedef enum lookup_form {
    LOOKUP_RECORDS,
    LOOKUP_LOCATIONS,
    LOOKUP_COUNTS,
    LOOKUP_KEYS /* has: the keys themselves */
} lookup_form;

typedef struct lookup_request {
    lookup_form form;
    bool as_json;
    bool with_header;
    bool first_only;
    bool linear_scan;
    bool filters_only; /* has --maybe */
    bool invert;       /* has -v */
    bool nul_ended;    /* keys in lists, and LOOKUP_KEYS on output */
    bool explain;
    bool stats;
    const char *keys_file;
    range_request range;
} lookup_request;

/* Ids of options without a letter. */
enum {
    LOOKUP_JSON = 256,
    LOOKUP_HEADER,
    LOOKUP_FIRST,
    LOOKUP_SCAN,
    LOOKUP_MAYBE,
    LOOKUP_EXPLAIN,
    LOOKUP_STATS
};

/* The options that both verbs have, for their tables. */
#define LOOKUP_OPTIONS_FORM                                               \
    {'l', "locations", NULL, "print KEY<TAB>FILE<TAB>OFFSET<TAB>LENGTH"}, \
        {'c', "count", NULL, "print KEY<TAB>COUNT for every key asked"},  \
    {                                                                     \
        LOOKUP_FIRST, "first", NULL, "at most one record a key"           \
    }
#define LOOKUP_OPTIONS_KEYS                                   \
    {'f', "keys-from", "FILE",                                \
     "keys from FILE (-: stdin), one a line, behind others"}, \
        RANGE_OPTIONS,                                        \
    {                                                         \
        LOOKUP_SCAN, "scan", NULL,                            \
            "read the data from the start, without the index" \
    }
#define LOOKUP_OPTIONS_COST                                             \
    {LOOKUP_EXPLAIN, "explain", NULL, "what each key cost, on stderr"}, \
    {                                                                   \
        LOOKUP_STATS, "stats", NULL, "what all keys cost, on stderr"    \
    }

/* Takes one of the options above; false after a mistake. */
bool lookup_take_option(command_line *cli, int id, const char *value,
                        lookup_request *request);

/* Checks what does not go together, asks, prints; the exit status. */
int lookup_run(command_line *cli, const lookup_request *request);

#endif
