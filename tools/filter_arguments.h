/* SPDX-License-Identifier: MIT */
/* What the verbs of filters are asked for, and the shapes that follow. */
#ifndef KSV_TOOLS_FILTER_ARGUMENTS_H
#define KSV_TOOLS_FILTER_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <keysieve/filter.h>

#include "cli.h"

enum {
    FILTER_EXPECT = 256,
    FILTER_FPR,
    FILTER_CLASSIC,
    FILTER_BITS,
    FILTER_HASHES,
    FILTER_HASH,
    FILTER_LIKE,
    FILTER_MEMORY,
    FILTER_JSON
};

typedef struct filter_request {
    const char *output;
    const char *like; /* another filter's file; or NULL */
    bool has_expect;
    uint64_t expect;
    bool has_fpr;
    double fpr; /* with a default */
    bool is_classic;
    uint64_t bits;   /* 0: not given */
    uint64_t hashes; /* likewise */
    ksv_hash_kind hash;
    uint64_t memory_bytes; /* with a default */
    bool nul_ended;
    bool invert;
    bool as_json;
} filter_request;

/* Takes the options and arguments of a verb, with the defaults of those that
 * are not given; false as cli_fail(). */
bool filter_take_options(command_line *cli, filter_request *request);

/* False, after cli_fail(), unless there is an argument: the filter's file. */
bool filter_check_file(command_line *cli);

/* False, after cli_fail(), unless the options go together. */
bool filter_check_request(command_line *cli, const filter_request *request);

/* Whether the shape follows without the number of keys. */
bool filter_has_shape(const filter_request *request);

/* The shape for `keys` keys: `plan->fpr` is the rate to which it may be filled,
 * 0 for none. False after a message. */
bool filter_plan_for(const filter_request *request, uint64_t keys,
                     ksv_filter_plan *plan);

#endif
