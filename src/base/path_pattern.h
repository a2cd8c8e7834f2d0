/* SPDX-License-Identifier: MIT */
/* Patterns of paths: '*', '?', '[...]' within a name, '**' for directories. */
#ifndef KSV_BASE_PATH_PATTERN_H
#define KSV_BASE_PATH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Within a name, '*' stands for any bytes, '?' for one, "[a-c_]" for one of a
 * set, "[!a-c]" or "[^a-c]" for one outside it; a backslash takes the byte
 * after it as it is. None of them matches a slash, all of them a point at the
 * beginning. A component that is "**" stands for any number of directories, at
 * the end for everything below. */

#define PATH_PATTERN_PARTS_MAX 62

typedef struct path_pattern_part {
    const char *text; /* borrowed */
    size_t length;
    bool any_directories; /* "**" */
} path_pattern_part;

typedef struct path_pattern {
    path_pattern_part parts[PATH_PATTERN_PARTS_MAX];
    size_t count;
} path_pattern;

/* Takes a pattern apart, of which `text` is borrowed. NULL, or what is wrong
 * with it: a phrase for a message. Empty components and "." are left out; ".."
 * is an error. */
const char *path_pattern_parse(path_pattern *pattern, const char *text);

/* Whether a component has anything that does not stand for itself. */
bool path_pattern_is_literal(const char *text, size_t length);

/* Whether the component matches `name`, which has no slash. */
bool path_pattern_match_name(const char *text, size_t length, const char *name);

/* Which parts of a pattern can come next: one bit each, bit `count` for the end
 * of it. */
typedef uint64_t path_positions;

path_positions path_pattern_start(const path_pattern *pattern);

/* The positions after `name`. `*is_whole` tells whether the names up to this
 * one are matched by the pattern; without positions nothing below can be. */
path_positions path_pattern_step(const path_pattern *pattern,
                                 path_positions positions, const char *name,
                                 bool *is_whole);

#endif
