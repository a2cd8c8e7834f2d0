/* SPDX-License-Identifier: MIT */
/* keysieve filter info, size: what a filter is, or would be. */
#include <inttypes.h>
#include <stdio.h>

#include "filter_arguments.h"
#include "filter_commands.h"
#include "filter_store.h"
#include "index_access.h"
#include "json.h"
#include "text.h"

/* Enough random keys for a measured rate within some 2 %, or for a second. */
#define PROBE_BATCH 4096
#define ENOUGH_POSITIVES 4000
#define MOST_PROBES ((uint64_t)1 << 23)

#define BAR_COLUMNS 32

static const cli_option INFO_OPTIONS[] = {
    {FILTER_JSON, "json", NULL, "one object"},
    {CLI_QUIET, "quiet", NULL, "print nothing: the exit status tells"},
    {0},
};

static const cli_option SIZE_OPTIONS[] = {
    {FILTER_EXPECT, "expect", "N", "the number of keys, such as 5000 or 1e12"},
    {FILTER_FPR, "fpr", "P", "false-positive rate (default 0.005)"},
    {FILTER_CLASSIC, "classic", NULL, "of the textbook filter"},
    {FILTER_BITS, "bits", "M", "classic: with M bits"},
    {FILTER_HASHES, "hashes", "K", "classic: and K hash functions"},
    {FILTER_JSON, "json", NULL,
     "{\"bits\",\"bytes\",\"hash_functions\",\"fpr\"}"},
    {0},
};

typedef struct filter_facts {
    ksv_filter_info info;
    double predicted;
    double fill;
    uint64_t probes;
    uint64_t positives;
} filter_facts;

/* The same random hashes in every run (splitmix64). */
static uint64_t next_hash(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void measure(const ksv_filter_builder *builder, filter_facts *facts)
{
    uint64_t state = 0;
    uint64_t hashes[PROBE_BATCH];
    bool answers[PROBE_BATCH];
    while (facts->probes < MOST_PROBES && facts->positives < ENOUGH_POSITIVES) {
        for (size_t i = 0; i < PROBE_BATCH; i++)
            hashes[i] = next_hash(&state);
        ksv_filter_builder_may_contain_batch(builder, hashes, PROBE_BATCH,
                                             answers);
        for (size_t i = 0; i < PROBE_BATCH; i++)
            facts->positives += answers[i];
        facts->probes += PROBE_BATCH;
    }
}

static void gather(ksv_filter_builder *builder, filter_facts *facts)
{
    *facts = (filter_facts){0};
    ksv_filter_builder_get_info(builder, &facts->info);
    const ksv_filter_options *o = &facts->info.options;
    facts->predicted =
        ksv_filter_plan_expected_fpr(&o->plan, facts->info.keys, o->hash_bits);
    facts->fill =
        (double)ksv_filter_builder_count_bits(builder) / (double)o->plan.bits;
    measure(builder, facts);
}

static double measured_rate(const filter_facts *facts)
{
    return (double)facts->positives / (double)facts->probes;
}

static const char *kind_name(const ksv_filter_plan *plan)
{
    return plan->kind == KSV_FILTER_CLASSIC ? "classic" : "blocked";
}

static void add_rate(output *out, bool is_first, const char *name, double rate)
{
    char text[TEXT_SHORT_BYTES];
    output_add_format(out, "%s\"%s\":%s", is_first ? "" : ",", name,
                      text_format_shortest(text, rate));
}

static void print_info_json(output *out, const filter_facts *facts)
{
    const ksv_filter_options *o = &facts->info.options;
    output_add_byte(out, '{');
    json_add_text(out, true, "kind", kind_name(&o->plan));
    json_add_number(out, false, "bits", o->plan.bits);
    json_add_number(out, false, "bytes", facts->info.file_bytes);
    json_add_number(out, false, "hash_functions", o->plan.hash_functions);
    json_add_text(out, false, "hash", index_access_hash_name(o->hasher.kind));
    json_add_number(out, false, "hash_bits", o->hash_bits);
    json_add_number(out, false, "keys", facts->info.keys);
    if (o->plan.fpr > 0) {
        json_add_number(
            out, false, "capacity",
            ksv_filter_plan_capacity(&o->plan, o->plan.fpr, o->hash_bits));
        add_rate(out, false, "planned_fpr", o->plan.fpr);
    }
    add_rate(out, false, "fpr", facts->predicted);
    add_rate(out, false, "measured_fpr", measured_rate(facts));
    json_add_number(out, false, "measured_probes", facts->probes);
    add_rate(out, false, "fill", facts->fill);
    output_add_format(out, ",\"standalone\":%s}\n",
                      o->is_standalone ? "true" : "false");
}

static void print_bar(output *out, double fill)
{
    unsigned full = (unsigned)(fill * BAR_COLUMNS + 0.5);
    output_add_text(out, "fill                 [");
    for (unsigned i = 0; i < BAR_COLUMNS; i++)
        output_add_byte(out, i < full ? '#' : '.');
    output_add_format(out, "] %.1f %%\n", 100 * fill);
}

static void print_keys(output *out, const filter_facts *facts)
{
    const ksv_filter_options *o = &facts->info.options;
    output_add_format(out, "keys                 %" PRIu64, facts->info.keys);
    if (o->plan.fpr > 0)
        output_add_format(
            out, ", room for %" PRIu64 " at %.3g %%",
            ksv_filter_plan_capacity(&o->plan, o->plan.fpr, o->hash_bits),
            100 * o->plan.fpr);
    output_add_byte(out, '\n');
}

static void print_info(output *out, const filter_facts *facts)
{
    const ksv_filter_options *o = &facts->info.options;
    char size[TEXT_SHORT_BYTES];
    output_add_format(out, "kind                 %s%s\n", kind_name(&o->plan),
                      o->is_standalone ? "" : ", belongs to an index");
    output_add_format(
        out, "size                 %" PRIu64 " bits, file of %s\n",
        o->plan.bits, text_format_size(size, (double)facts->info.file_bytes));
    output_add_format(out, "hash                 %s, %u bits, %u function%s\n",
                      index_access_hash_name(o->hasher.kind), o->hash_bits,
                      o->plan.hash_functions,
                      o->plan.hash_functions == 1 ? "" : "s");
    print_keys(out, facts);
    print_bar(out, facts->fill);
    output_add_format(out, "rate predicted       %.4g %%\n",
                      100 * facts->predicted);
    output_add_format(out,
                      "rate measured        %.4g %% (%" PRIu64 " of %" PRIu64
                      " random keys)\n",
                      100 * measured_rate(facts), facts->positives,
                      facts->probes);
}

static int run_info(command_line *cli)
{
    filter_request request;
    ksv_filter_builder *builder;
    filter_facts facts;
    if (!filter_take_options(cli, &request))
        return cli->status;
    if (cli->argument_count != 1) {
        cli_fail(cli, "the file of one filter is needed");
        return cli->status;
    }
    if (!filter_store_load(cli->arguments[0], &builder))
        return 2;
    gather(builder, &facts);
    ksv_filter_builder_close(builder);
    if (cli->is_quiet)
        return 0;
    if (request.as_json)
        print_info_json(cli->out, &facts);
    else
        print_info(cli->out, &facts);
    return 0;
}

static void print_size(output *out, const ksv_filter_plan *plan, uint64_t keys,
                       bool as_json)
{
    double rate = ksv_filter_plan_expected_fpr(plan, keys, 64);
    char size[TEXT_SHORT_BYTES];
    if (as_json) {
        output_add_byte(out, '{');
        json_add_number(out, true, "bits", plan->bits);
        json_add_number(out, false, "bytes", plan->file_bytes);
        json_add_number(out, false, "hash_functions", plan->hash_functions);
        add_rate(out, false, "fpr", rate);
        output_add_text(out, "}\n");
        return;
    }
    output_add_format(out, "bits                 %" PRIu64, plan->bits);
    if (keys > 0)
        output_add_format(out, ", %.4g a key",
                          (double)plan->bits / (double)keys);
    output_add_format(out, "\nbytes                %" PRIu64 " (%s)\n",
                      plan->file_bytes,
                      text_format_size(size, (double)plan->file_bytes));
    output_add_format(out, "hash functions       %u\n", plan->hash_functions);
    output_add_format(out, "false-positive rate  %.4g %%\n", 100 * rate);
}

static int run_size(command_line *cli)
{
    filter_request request;
    ksv_filter_plan plan;
    if (!filter_take_options(cli, &request) || !cli_refuse_arguments(cli) ||
        !filter_check_request(cli, &request))
        return cli->status;
    if (!request.has_expect) {
        cli_fail(cli, "--expect N is needed: the number of keys");
        return cli->status;
    }
    if (!filter_plan_for(&request, request.expect, &plan))
        return 2;
    print_size(cli->out, &plan, request.expect, request.as_json);
    return 0;
}

const cli_verb FILTER_INFO = {
    .name = "filter info",
    .usage = "[--json] F",
    .summary = "Print what the filter F is and holds, and its rate; checks all "
               "of it.",
    .options = INFO_OPTIONS,
    .notes = "The rate is predicted for its shape and number of keys, and "
             "measured by asking\n"
             "for random keys.\n"
             "Exit status: 0 done, 2 error.\n"
             "Example: keysieve filter info blocked.ksf",
    .run = run_info,
};

const cli_verb FILTER_SIZE = {
    .name = "filter size",
    .usage = "--expect N [--fpr P] [options]",
    .summary = "Print how large a filter would be; makes none.",
    .options = SIZE_OPTIONS,
    .notes = "Exit status: 0 done, 2 error.\n"
             "Example: keysieve filter size --expect 1e9 --fpr 0.001",
    .run = run_size,
};
