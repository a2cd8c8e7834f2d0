/* SPDX-License-Identifier: MIT */
/* Indexes the files of a plan, several small ones at once, and gives the
 * results in the order of the plan. */
#ifndef KSV_BUILD_FILE_WINDOW_H
#define KSV_BUILD_FILE_WINDOW_H

#include "build/build_plan.h"
#include "build/file_builder.h"

/* One thread at a time. */
typedef struct file_window file_window;

/* `builder` and `plan` are borrowed. Sidecars are numbered from
 * `first_id` on, by the place of their file among those to be indexed, so that
 * numbers do not depend on threads. With `collects`, small
 * files get no tables; with `leaves_loose` as well, their other sidecars are
 * not synced.
 */
ksv_status file_window_open(file_builder *builder, const build_plan *plan,
                            uint64_t memory_bytes, uint64_t first_id,
                            bool collects, bool leaves_loose, file_window **out,
                            ksv_error *error);

/* What came of the next file of the plan that is to be indexed. As
 * file_builder_run(). */
ksv_status file_window_take(file_window *window, built_file *out,
                            ksv_error *error);

/* Gives up what was not taken. NULL is allowed. */
void file_window_close(file_window *window);

#endif
