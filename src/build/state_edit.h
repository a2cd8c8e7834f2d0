/* SPDX-License-Identifier: MIT */
/* Changes of a catalog state while a build goes on. */
#ifndef KSV_BUILD_STATE_EDIT_H
#define KSV_BUILD_STATE_EDIT_H

#include "build/build_plan.h"
#include "build/file_builder.h"
#include "catalog/catalog.h"

/* What becomes of a file that the state had at the beginning. */
typedef enum file_fate {
    FATE_KEPT = 0,
    FATE_REPLACED, /* its old content is of no use any more */
    FATE_DROPPED
} file_fate;

/* Until state_edit_finish() files keep their places and old segments their
 * parts. Nothing else may add or remove either meanwhile. */
typedef struct state_edit {
    catalog_state *state;  /* borrowed */
    uint8_t *fates;        /* a file_fate for each file of the beginning */
    size_t file_count;     /* then */
    uint64_t first_new_id; /* segments from here on are of this build */
} state_edit;

ksv_status state_edit_open(state_edit *edit, catalog_state *state,
                           ksv_error *error);
void state_edit_close(state_edit *edit); /* also of one that is all zero */

/* Puts a built file in: in place of the one it was before, or at the end. Takes
 * over what `built` owns but its sidecars, on failure too. Of a grown one the
 * old parts that live stay alive: see state_growth_add(). */
ksv_status state_edit_put(state_edit *edit, const planned_file *planned,
                          built_file *built, ksv_error *error);

/* The ordinal that state_edit_put() is going to give. */
uint64_t state_edit_ordinal(const state_edit *edit,
                            const planned_file *planned);

/* Adds a segment of this build, with a number above all others. Takes over what
 * it owns, on failure too. */
ksv_status state_edit_add_segment(state_edit *edit, catalog_segment *segment,
                                  ksv_error *error);

/* Takes the file number `index` out. */
void state_edit_drop(state_edit *edit, size_t index);

/* Records how an unchanged file is now called, and its times if they changed.
 * `*changed` becomes true when there was anything to record. */
ksv_status state_edit_refresh(state_edit *edit, const planned_file *planned,
                              bool *changed, ksv_error *error);

/* Lets the parts of files that were replaced or dropped die, and takes out what
 * is left without use: segments without living parts, and dropped files. */
void state_edit_finish(state_edit *edit);

#endif
