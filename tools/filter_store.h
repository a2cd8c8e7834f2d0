/* SPDX-License-Identifier: MIT */
/* Filters of the tool in memory and on the disk, with what is to be said. */
#ifndef KSV_TOOLS_FILTER_STORE_H
#define KSV_TOOLS_FILTER_STORE_H

#include <stdbool.h>

#include <keysieve/filter.h>

#include "cli.h"
#include "filter_keys.h"

/* An empty filter in memory. False after a message, which says how much memory
 * was wanted. */
bool filter_store_make(const ksv_filter_options *options,
                       ksv_filter_builder **builder);

/* Reads a whole filter. False after a message. */
bool filter_store_load(const char *path, ksv_filter_builder **builder);

/* The options of the filter in `path`, all of which is read and checked, for
 * one of its own that belongs to no index. False after a message. */
bool filter_store_take_options(const char *path, ksv_filter_options *options);

/* False, after a message, when a filter must not be written to `path`: it is
 * no regular file, or the filter of an index. */
bool filter_store_check(const char *path);

/* False, after a message, when `keys` are read from the file at `path`. */
bool filter_store_check_keys(const char *path, const filter_keys *keys);

typedef enum filter_store_way {
    FILTER_STORE_REPLACE,
    FILTER_STORE_UPDATE /* what others added meanwhile stays */
} filter_store_way;

/* Writes the filter, says what it holds now unless `cli` is quiet, and warns
 * when it holds more than fits. Returns the exit status. */
int filter_store_save(const command_line *cli, ksv_filter_builder *builder,
                      const char *path, filter_store_way way);

#endif
