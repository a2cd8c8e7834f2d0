/* SPDX-License-Identifier: MIT */
/* A data file that has grown -> sidecars of what was appended. */
#ifndef KSV_BUILD_FILE_EXTENDER_H
#define KSV_BUILD_FILE_EXTENDER_H

#include <stdbool.h>

#include "build/file_builder.h"

/* Whether the catalog says enough of a file to go on behind what it knows of
 * it: all of its records could be read, and a compressed one has access points.
 */
bool file_extender_can(const catalog_file *known);

/* Indexes the end of the grown file `planned` (PLAN_EXTEND) as sidecars of
 * number `id`: from its last record that is complete, or from an earlier extent
 * when that is no larger than what follows it, so that extents stay few.
 *
 * Whether the beginning is as it was is found out first: by the samples of its
 * fingerprint, and with `compare_grown` by all of it, too. `*is_done` is false,
 * with KSV_OK, when it is not, or all of the file is to be indexed for another
 * reason. As file_builder_run() otherwise. */
ksv_status file_extender_run(file_builder *builder, const planned_file *planned,
                             uint64_t id, const file_means *means,
                             built_file *out, bool *is_done, ksv_error *error);

#endif
