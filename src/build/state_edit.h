/* SPDX-License-Identifier: MIT */
/* Changes of a catalog state while a build goes on. */
#ifndef KSV_BUILD_STATE_EDIT_H
#define KSV_BUILD_STATE_EDIT_H

#include "build/build_plan.h"
#include "build/file_builder.h"
#include "catalog/catalog.h"

/* Puts a built file in: in place of the one it was before, or at the end. Takes
 * over what `built` owns, on failure too. */
ksv_status state_put_file(catalog_state *state, const planned_file *planned,
                          built_file *built, ksv_error *error);

/* Takes file number `index` out, with its segment. */
void state_drop_file(catalog_state *state, size_t index);

/* Records how an unchanged file is now called, and its times if they changed.
 * `*changed` becomes true when there was anything to record. */
ksv_status state_refresh_file(catalog_state *state, const planned_file *planned,
                              bool *changed, ksv_error *error);

#endif
