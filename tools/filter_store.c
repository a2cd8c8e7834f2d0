/* SPDX-License-Identifier: MIT */
/* Filters of the tool in memory and on the disk, with what is to be said. */
#include "filter_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "huge_memory.h"
#include "message.h"
#include "text.h"

/* Another process holds a filter's file for as long as it takes to write it. */
#define BUSY_WAIT_NS 20000000
#define BUSY_TRIES 3000

/* The number of keys is told from those that changed a bit, so it may be wrong
 * by a few square roots of those that did not. */
#define RATE_MARGIN 1.01
#define DEVIATIONS 3.0

/* Of filters that were made for no rate. */
#define USELESS_RATE 0.5

static bool fail_memory(uint64_t wanted)
{
    char size[TEXT_SHORT_BYTES];
    char there[TEXT_SHORT_BYTES];
    message_text("the filter takes %" PRIu64 " bytes (%s) of memory, more than "
                 "can be had; this machine has %s",
                 wanted, text_format_size(size, (double)wanted),
                 text_format_size(there, (double)huge_memory_machine_bytes()));
    return false;
}

bool filter_store_make(const ksv_filter_options *options,
                       ksv_filter_builder **builder)
{
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    uint64_t wanted = options->plan.blocks * 64;
    *builder = NULL;
    if (wanted > huge_memory_machine_bytes())
        return fail_memory(wanted);
    ksv_status status = ksv_filter_builder_open(
        options, huge_memory_allocator(), builder, &error);
    if (status == KSV_ERROR_MEMORY)
        return fail_memory(wanted);
    if (status != KSV_OK)
        message_error(&error, NULL);
    return status == KSV_OK;
}

bool filter_store_load(const char *path, ksv_filter_builder **builder)
{
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    if (ksv_filter_builder_open_file(NULL, path, huge_memory_allocator(),
                                     builder, &error) == KSV_OK)
        return true;
    message_error(&error, NULL);
    return false;
}

bool filter_store_take_options(const char *path, ksv_filter_options *options)
{
    ksv_filter_builder *builder;
    ksv_filter_info info;
    if (!filter_store_load(path, &builder))
        return false;
    ksv_filter_builder_get_info(builder, &info);
    ksv_filter_builder_close(builder);
    *options = info.options;
    options->is_standalone = true;
    return true;
}

/* Whether there is a filter at `path` that belongs to an index. */
static bool is_of_index(const char *path)
{
    const ksv_file_system *fs = ksv_posix_file_system();
    ksv_file *file;
    ksv_filter *filter;
    bool is_foreign = false;
    if (fs->open_read(fs->ctx, path, &file, NULL) != KSV_OK)
        return false;
    if (ksv_filter_open(file, NULL, &filter, NULL) == KSV_OK) {
        ksv_filter_info info;
        ksv_filter_get_info(filter, &info);
        is_foreign = !info.options.is_standalone;
        ksv_filter_close(filter);
    }
    return file->ops->close(file, NULL) == KSV_OK && is_foreign;
}

bool filter_store_check(const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return true;
    if (!S_ISREG(file.st_mode)) {
        message_text("%s: is not a regular file", path);
        return false;
    }
    if (is_of_index(path)) {
        message_text("%s: belongs to an index, which alone may change it",
                     path);
        return false;
    }
    return true;
}

bool filter_store_check_keys(const char *path, const filter_keys *keys)
{
    if (!filter_keys_are_of(keys, path))
        return true;
    message_text("%s: the keys are read from this file, which would be "
                 "replaced",
                 path);
    return false;
}

static const char *format_percent(char text[TEXT_SHORT_BYTES], double rate)
{
    snprintf(text, TEXT_SHORT_BYTES, "%.3g %%", 100 * rate);
    return text;
}

static void say_overfull(const char *path, const ksv_filter_info *info,
                         double rate)
{
    const ksv_filter_plan *plan = &info->options.plan;
    char now[TEXT_SHORT_BYTES];
    char asked[TEXT_SHORT_BYTES];
    char hint[128];
    double wanted = plan->fpr > 0 ? plan->fpr : USELESS_RATE;
    snprintf(
        hint, sizeof hint,
        "No key is lost. For that rate make a new one with --expect %" PRIu64
        " or more.",
        info->keys);
    message_hint(
        hint,
        "warning: %s holds about %" PRIu64 " keys where %" PRIu64
        " fit: expect a false-positive rate of %s instead of %s",
        path, info->keys,
        ksv_filter_plan_capacity(plan, wanted, info->options.hash_bits),
        format_percent(now, rate), format_percent(asked, wanted));
}

static void say_content(const char *path, const ksv_filter_info *info,
                        double rate)
{
    char size[TEXT_SHORT_BYTES];
    char percent[TEXT_SHORT_BYTES];
    message_text("%s: %" PRIu64 " keys, %s, false-positive rate %s", path,
                 info->keys, text_format_size(size, (double)info->file_bytes),
                 format_percent(percent, rate));
}

/* Whether there are surely more keys than fit. */
static bool is_overfull(const ksv_filter_info *info)
{
    const ksv_filter_plan *plan = &info->options.plan;
    double rate = plan->fpr > 0 ? plan->fpr * RATE_MARGIN : USELESS_RATE;
    uint64_t fit =
        ksv_filter_plan_capacity(plan, rate, info->options.hash_bits);
    if (info->keys <= fit)
        return false;
    double over = (double)(info->keys - fit) / DEVIATIONS;
    return over * over > rate * (double)info->keys;
}

static void report(const command_line *cli, ksv_filter_builder *builder,
                   const char *path)
{
    ksv_filter_info info;
    ksv_filter_builder_get_info(builder, &info);
    double rate = ksv_filter_plan_expected_fpr(&info.options.plan, info.keys,
                                               info.options.hash_bits);
    if (!cli->is_quiet)
        say_content(path, &info, rate);
    if (is_overfull(&info))
        say_overfull(path, &info, rate);
}

static ksv_status save(ksv_filter_builder *builder, const char *path,
                       filter_store_way way, ksv_error *error)
{
    if (way == FILTER_STORE_UPDATE)
        return ksv_filter_builder_update(builder, NULL, path, error);
    return ksv_filter_builder_save(builder, NULL, path, error);
}

int filter_store_save(const command_line *cli, ksv_filter_builder *builder,
                      const char *path, filter_store_way way)
{
    static const struct timespec wait = {.tv_nsec = BUSY_WAIT_NS};
    ksv_error error = {.byte_offset = KSV_NO_OFFSET};
    /* The file that a symbolic link names is replaced, not the link. */
    char *real = realpath(path, NULL);
    const char *target = real != NULL ? real : path;
    ksv_status status = save(builder, target, way, &error);
    for (int i = 0; status == KSV_ERROR_BUSY && i < BUSY_TRIES; i++) {
        nanosleep(&wait, NULL);
        status = save(builder, target, way, &error);
    }
    free(real);
    if (status != KSV_OK) {
        message_error(&error, NULL);
        return 2;
    }
    report(cli, builder, path);
    return 0;
}
