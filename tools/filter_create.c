/* SPDX-License-Identifier: MIT */
/* keysieve filter create: a filter of the keys of a file or a pipe. */
#include <stdio.h>
#include <string.h>

#include "filter_arguments.h"
#include "filter_commands.h"
#include "filter_hashes.h"
#include "filter_keys.h"
#include "filter_store.h"
#include "huge_memory.h"
#include "message.h"

/* The part of --memory that hashes take while their number is not known. It is
 * needed twice to sort them. */
#define HASHES_SHARE 4

/* Filters that may have to become smaller have a number of blocks that many
 * numbers divide. */
static const uint64_t FOLDING_BLOCKS[] = {720720, 5040, 240, 60, 12, 1};

/* As many keys as a pipe may bring: only decides about hash functions. */
#define MANY_KEYS 1000000000

typedef struct creation {
    command_line *cli;
    const filter_request *request;
    filter_keys keys;
    ksv_filter_options options;
    ksv_filter_builder *builder; /* NULL while hashes are collected */
    uint64_t *hashes;
    size_t count;
    size_t capacity;
    bool may_fold;
} creation;

static const cli_option OPTIONS[] = {
    {'o', "output", "F", "the filter's file; replaced when it exists"},
    {FILTER_FPR, "fpr", "P", "false-positive rate (default 0.005)"},
    {FILTER_EXPECT, "expect", "N",
     "size it for N keys (default: those that come)"},
    {FILTER_LIKE, "like", "G", "shape and hash of the filter G, to be merged"},
    {FILTER_CLASSIC, "classic", NULL,
     "the textbook filter; by default one of 512-bit\n"
     "blocks: faster, and larger by a tenth"},
    {FILTER_BITS, "bits", "M", "classic: M bits"},
    {FILTER_HASHES, "hashes", "K", "classic: K hash functions"},
    {FILTER_HASH, "hash", "NAME",
     "xxh3 (default), siphash (with a random key)"},
    {FILTER_MEMORY, "memory", "SIZE",
     "for keys of an unknown number (default 1G)"},
    {'0', "null", NULL, "keys end with NUL, not with LF"},
    {CLI_QUIET, "quiet", NULL, "no summary; warnings remain"},
    {0},
};

static bool read_random(uint8_t *key, size_t key_bytes)
{
    FILE *in = fopen("/dev/urandom", "rb");
    bool good = in != NULL && fread(key, 1, key_bytes, in) == key_bytes;
    if (in != NULL)
        fclose(in);
    if (!good)
        message_text("/dev/urandom: cannot read");
    return good;
}

/* All but the plan, unless that is known as well. */
static bool choose_options(creation *c)
{
    const filter_request *request = c->request;
    ksv_filter_options_init(&c->options);
    if (request->like != NULL)
        return filter_store_take_options(request->like, &c->options);
    c->options.hasher.kind = request->hash;
    if (request->hash == KSV_HASH_SIPHASH &&
        !read_random(c->options.hasher.key, sizeof c->options.hasher.key))
        return false;
    return !filter_has_shape(request) ||
           filter_plan_for(request, request->expect, &c->options.plan);
}

static bool open_builder(creation *c)
{
    if (!filter_store_make(&c->options, &c->builder))
        return false;
    ksv_filter_builder_add_batch(c->builder, c->hashes, c->count);
    return true;
}

static void free_hashes(uint64_t *hashes, size_t capacity)
{
    const ksv_allocator *a = huge_memory_allocator();
    if (hashes != NULL)
        a->free(a->ctx, hashes, capacity * sizeof hashes[0]);
}

static void drop_hashes(creation *c)
{
    free_hashes(c->hashes, c->capacity);
    c->hashes = NULL;
    c->count = c->capacity = 0;
}

/* `blocks`, made divisible by as large a number as changes it little. */
static uint64_t make_divisible(uint64_t blocks, bool upwards)
{
    size_t i = 0;
    while (FOLDING_BLOCKS[i] * (upwards ? 64 : 1) > blocks &&
           FOLDING_BLOCKS[i] > 1)
        i++;
    uint64_t unit = FOLDING_BLOCKS[i];
    return (blocks + (upwards ? unit - 1 : 0)) / unit * unit;
}

/* There are more keys than fit in memory as hashes: from now on they go to a
 * filter for as many as there can be, or that --memory allows. */
static bool open_for_many(creation *c)
{
    bool is_at_end = c->keys.list.fd < 0;
    uint64_t most =
        is_at_end ? c->count + c->keys.list.count : filter_keys_count(&c->keys);
    bool is_counted = most != UINT64_MAX;
    ksv_filter_plan *plan = &c->options.plan;
    if (!filter_plan_for(c->request, is_counted ? most : MANY_KEYS, plan))
        return false;
    if (c->request->is_classic && !is_counted) {
        message_text("a textbook filter of so many keys from a pipe needs "
                     "--expect, or --bits and --hashes");
        return false;
    }
    if (!c->request->is_classic) {
        uint64_t hashes_bytes = c->request->memory_bytes / HASHES_SHARE;
        uint64_t room = (c->request->memory_bytes - hashes_bytes) / 64 + 1;
        plan->blocks =
            make_divisible(is_counted ? plan->blocks : room, is_counted);
        c->may_fold = true;
    }
    if (!open_builder(c))
        return false;
    drop_hashes(c);
    return true;
}

static bool grow(creation *c, size_t capacity)
{
    const ksv_allocator *a = huge_memory_allocator();
    uint64_t *larger = a->alloc(a->ctx, capacity * sizeof larger[0]);
    if (larger == NULL) {
        message_text("out of memory");
        return false;
    }
    if (c->count > 0)
        memcpy(larger, c->hashes, c->count * sizeof larger[0]);
    free_hashes(c->hashes, c->capacity);
    c->hashes = larger;
    c->capacity = capacity;
    return true;
}

static bool collect(creation *c, const uint64_t *hashes, size_t count)
{
    size_t limit =
        (size_t)(c->request->memory_bytes / HASHES_SHARE / sizeof c->hashes[0]);
    if (c->count + count > limit) {
        if (!open_for_many(c))
            return false;
        ksv_filter_builder_add_batch(c->builder, hashes, count);
        return true;
    }
    if (c->count + count > c->capacity) {
        size_t larger = 2 * c->capacity + count;
        if (!grow(c, larger < limit ? larger : limit))
            return false;
    }
    memcpy(c->hashes + c->count, hashes, count * sizeof hashes[0]);
    c->count += count;
    return true;
}

/* All hashes are in memory: how many differ can be told. */
static bool build_collected(creation *c)
{
    if (!filter_hashes_make_distinct(c->hashes, &c->count)) {
        message_text("out of memory");
        return false;
    }
    if (!filter_plan_for(c->request, c->count, &c->options.plan) ||
        !open_builder(c))
        return false;
    ksv_filter_builder_set_keys(c->builder, c->count);
    return true;
}

/* Makes a filter for more keys than came as small as the rate allows. */
static bool fold(creation *c)
{
    ksv_filter_plan best;
    ksv_filter_plan plan = c->options.plan;
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    ksv_filter_info info;
    ksv_filter_builder_get_info(c->builder, &info);
    uint64_t keys = info.keys;
    if (!filter_plan_for(c->request, keys, &best))
        return false;
    uint64_t factor = plan.blocks / best.blocks;
    while (factor > 1 &&
           (plan.blocks % factor != 0 ||
            ksv_filter_expected_fpr(plan.blocks / factor, plan.hash_functions,
                                    keys, 64) > c->request->fpr))
        factor--;
    if (factor > 1 &&
        ksv_filter_builder_fold(c->builder, factor, &error) != KSV_OK) {
        message_error(&error, NULL);
        return false;
    }
    return true;
}

static bool read_keys(creation *c)
{
    filter_keys *keys = &c->keys;
    while (filter_keys_next(keys)) {
        if (keys->list.count == 0)
            return true;
        if (c->builder != NULL)
            ksv_filter_builder_add_batch(c->builder, keys->hashes,
                                         keys->list.count);
        else if (!collect(c, keys->hashes, keys->list.count))
            return false;
    }
    return false;
}

static bool build(creation *c)
{
    if (filter_has_shape(c->request) && !open_builder(c))
        return false;
    if (!read_keys(c))
        return false;
    if (c->builder == NULL)
        return build_collected(c);
    return !c->may_fold || fold(c);
}

static int run_opened(creation *c)
{
    if (!filter_keys_open(&c->keys, c->cli, 0, c->request->nul_ended,
                          &c->options.hasher))
        return c->cli->status;
    int status = 2;
    if (filter_store_check_keys(c->request->output, &c->keys) && build(c))
        status = filter_store_save(c->cli, c->builder, c->request->output,
                                   FILTER_STORE_REPLACE);
    ksv_filter_builder_close(c->builder);
    drop_hashes(c);
    filter_keys_close(&c->keys);
    return status;
}

static int run(command_line *cli)
{
    filter_request request;
    if (!filter_take_options(cli, &request) ||
        !filter_check_request(cli, &request))
        return cli->status;
    if (request.output == NULL || request.output[0] == '\0') {
        cli_fail(cli, "-o F is needed: the file of the filter");
        return cli->status;
    }
    creation c = {.cli = cli, .request = &request};
    if (!filter_store_check(request.output) || !choose_options(&c))
        return 2;
    return run_opened(&c);
}

const cli_verb FILTER_CREATE = {
    .name = "filter create",
    .usage = "-o F [options] [FILE]",
    .summary = "Make a filter of the keys of FILE (or standard input), one a "
               "line.",
    .options = OPTIONS,
    .notes = "Exit status: 0 done, 2 error.\n"
             "Example: keysieve filter create -o blocked.ksf blocked.txt",
    .run = run,
};
