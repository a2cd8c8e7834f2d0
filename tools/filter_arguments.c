/* SPDX-License-Identifier: MIT */
/* What the verbs of filters are asked for, and the shapes that follow. */
#include "filter_arguments.h"

#include "message.h"

#define MOST_EXPECTED 1000000000000000000u
#define MOST_BITS ((uint64_t)1 << 60)
#define MOST_HASHES 64
#define DEFAULT_FPR 0.005
#define DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)

static void set_defaults(filter_request *request)
{
    *request = (filter_request){.fpr = DEFAULT_FPR,
                                .hash = KSV_HASH_XXH3,
                                .memory_bytes = DEFAULT_MEMORY_BYTES};
}

static bool take_value(command_line *cli, int id, const char *value,
                       filter_request *request)
{
    switch (id) {
    case FILTER_EXPECT:
        request->has_expect = true;
        return cli_parse_count(cli, "--expect", value, 0, MOST_EXPECTED,
                               &request->expect);
    case FILTER_FPR:
        request->has_fpr = true;
        return cli_parse_rate(cli, "--fpr", value, &request->fpr);
    case FILTER_BITS:
        return cli_parse_number(cli, "--bits", value, 1, MOST_BITS,
                                &request->bits);
    case FILTER_HASHES:
        return cli_parse_number(cli, "--hashes", value, 1, MOST_HASHES,
                                &request->hashes);
    case FILTER_HASH:
        return cli_parse_hash(cli, value, &request->hash);
    case FILTER_MEMORY:
        return cli_parse_size(cli, "--memory", value, &request->memory_bytes);
    case FILTER_LIKE:
        request->like = value;
        return true;
    default:
        request->output = value;
        return true;
    }
}

static bool take(command_line *cli, int id, const char *value,
                 filter_request *request)
{
    if (value != NULL)
        return take_value(cli, id, value, request);
    request->nul_ended |= id == '0';
    request->invert |= id == 'v';
    request->as_json |= id == FILTER_JSON;
    request->is_classic |= id == FILTER_CLASSIC;
    return true;
}

bool filter_take_options(command_line *cli, filter_request *request)
{
    const char *value;
    set_defaults(request);
    for (;;) {
        int id = cli_next(cli, &value);
        if (id == CLI_END)
            return true;
        if (id == CLI_STOP)
            return false;
        if (id != CLI_ARGUMENT && !take(cli, id, value, request))
            return false;
    }
}

bool filter_check_file(command_line *cli)
{
    return cli->argument_count > 0 ||
           cli_fail(cli, "the filter's file is needed");
}

bool filter_check_request(command_line *cli, const filter_request *request)
{
    bool is_sized = request->bits > 0 || request->hashes > 0;
    if (is_sized && !request->is_classic)
        return cli_fail(cli, "--bits and --hashes are for --classic; a blocked "
                             "filter takes --expect and --fpr");
    if (is_sized && (request->bits == 0 || request->hashes == 0))
        return cli_fail(cli, "--bits and --hashes go together");
    if (is_sized && request->has_fpr)
        return cli_fail(cli, "--fpr follows from --bits and --hashes; give the "
                             "one or the others");
    if (request->like != NULL &&
        (request->is_classic || request->has_expect || request->has_fpr))
        return cli_fail(cli, "--like takes its shape from the other filter: no "
                             "--classic, --expect or --fpr");
    return true;
}

bool filter_has_shape(const filter_request *request)
{
    return request->has_expect || request->bits > 0 || request->like != NULL;
}

static bool plan_failed(const ksv_error *error)
{
    message_error(error, NULL);
    return false;
}

/* What a filter may be filled to when the user has named its shape alone. */
static double rate_of_shape(const filter_request *request,
                            const ksv_filter_plan *plan)
{
    if (!request->has_expect)
        return 0;
    return ksv_filter_plan_expected_fpr(plan, request->expect, 64);
}

static bool classic_plan(uint64_t bits, unsigned functions, uint64_t keys,
                         ksv_filter_plan *plan)
{
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    return ksv_filter_make_classic_plan(bits, functions, keys, plan, &error) ==
               KSV_OK ||
           plan_failed(&error);
}

/* The fewest bits with which that many functions reach the rate. */
static uint64_t least_classic_bits(unsigned functions, uint64_t keys,
                                   double fpr)
{
    uint64_t bits = 0;
    for (uint64_t step = MOST_BITS / 2; step > 0; step /= 2) {
        ksv_filter_plan plan;
        if (ksv_filter_make_classic_plan(bits + step, functions, keys, &plan,
                                         NULL) == KSV_OK &&
            plan.fpr > fpr)
            bits += step;
    }
    return bits + 1;
}

/* The best number of functions halves the rate with each: about log2(1 / P). */
static bool plan_classic(const filter_request *request, uint64_t keys,
                         ksv_filter_plan *plan)
{
    unsigned functions = 1;
    for (double part = request->fpr; part < 0.7072 / 2; part *= 2)
        functions++;
    if (functions > MOST_HASHES)
        functions = MOST_HASHES;
    uint64_t bits = least_classic_bits(functions, keys, request->fpr);
    if (!classic_plan(bits, functions, keys, plan))
        return false;
    plan->fpr = request->fpr;
    return true;
}

static bool plan_blocked(const filter_request *request, uint64_t keys,
                         ksv_filter_plan *plan)
{
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    if (ksv_filter_make_plan(keys, request->fpr, 64, plan, &error) != KSV_OK)
        return plan_failed(&error);
    /* Where fewer functions do, for the size that was rounded up, they are
     * faster. */
    while (plan->hash_functions > 1 &&
           ksv_filter_expected_fpr(plan->blocks, plan->hash_functions - 1, keys,
                                   64) <= request->fpr)
        plan->hash_functions--;
    plan->fpr = request->fpr;
    return true;
}

bool filter_plan_for(const filter_request *request, uint64_t keys,
                     ksv_filter_plan *plan)
{
    if (!request->is_classic)
        return plan_blocked(request, keys, plan);
    if (request->bits == 0)
        return plan_classic(request, keys, plan);
    if (!classic_plan(request->bits, (unsigned)request->hashes, keys, plan))
        return false;
    plan->fpr = rate_of_shape(request, plan);
    return true;
}
