/* SPDX-License-Identifier: MIT */
/* New environments that take the place of catalog.mdb as a whole. */
#ifndef KSV_CATALOG_CATALOG_ENVIRONMENT_H
#define KSV_CATALOG_CATALOG_ENVIRONMENT_H

#include "catalog/catalog.h"
#include "catalog/catalog_copy.h"

/* Puts a new catalog.mdb without any commit into `directory`. */
ksv_status environment_start(const ksv_file_system *fs, const char *directory,
                             const ksv_allocator *allocator, ksv_error *error);

/* Replaces whatever is catalog.mdb by a new environment that holds `state`,
 * with its copy. The generation becomes the first possible one above `floor`
 * (`state->generation` is set). A kill leaves either what was there before,
 * beside a further copy that is complete, or the new one. */
ksv_status environment_replace(const ksv_file_system *fs, const char *directory,
                               catalog_state *state, uint64_t floor,
                               ksv_error *error);

#endif
