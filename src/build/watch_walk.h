/* SPDX-License-Identifier: MIT */
/* Finds the regular files that a watched pattern matches. */
#ifndef KSV_BUILD_WATCH_WALK_H
#define KSV_BUILD_WATCH_WALK_H

#include <keysieve/builder.h>
#include <keysieve/io.h>

#include "catalog/watch_list.h"

/* A file that was found. Borrowed for the call. */
typedef struct watch_match {
    const char *open_path;
    const char *given_path;    /* as a user of the pattern would write it */
    const char *relative_path; /* from the index directory, canonical */
} watch_match;

typedef ksv_status (*watch_match_fn)(void *ctx, const watch_match *match,
                                     ksv_error *error);

/* What a walk goes through. Borrowed members. */
typedef struct watch_walk {
    const ksv_file_system *fs;
    const ksv_allocator *allocator;
    const char *real_directory; /* of the index, whose files are left out */
    watch_match_fn match;       /* an error ends the walk */
    ksv_problem_fn problem;     /* told of directories that cannot be read */
    void *ctx;                  /* of both */
} watch_walk;

/* Gives every match of `entry` once, in the order of their names. A "**" does
 * not go into directories that are symbolic links; what vanishes meanwhile is
 * passed over. */
ksv_status watch_walk_run(const watch_walk *walk, const watch_entry *entry,
                          ksv_error *error);

#endif
