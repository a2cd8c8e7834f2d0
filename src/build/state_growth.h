/* SPDX-License-Identifier: MIT */
/* What becomes of the old segments when the ends of data files are replaced. */
#ifndef KSV_BUILD_STATE_GROWTH_H
#define KSV_BUILD_STATE_GROWTH_H

#include "build/file_builder.h"
#include "catalog/catalog.h"
#include "segment/segment.h"

/* A living part of an old segment. */
typedef struct growth_part {
    uint64_t ordinal;
    size_t segment; /* its place in the state */
    size_t part;    /* its place in the segment */
    uint64_t base;  /* see catalog_segment */
} growth_part;

/* Where a part is to be cut in two: the second half is dead. */
typedef struct growth_cut {
    size_t segment;
    size_t part;
    uint64_t offset;
    uint64_t dead_entries;
} growth_cut;

/* Parts are listed once, and cut all together at the end, so that it takes as
 * many steps as there are parts and grown files, not one for each pair. From
 * the first file on, segments and their parts keep their places until
 * state_growth_finish(). All zero but for the first three is one that is open.
 */
typedef struct state_growth {
    catalog_state *state;       /* borrowed */
    const segment_place *place; /* borrowed */
    uint64_t first_new_id;      /* segments from here on are left alone */
    bool is_listed;
    growth_part *parts; /* by ordinal, segment and part */
    size_t part_count;
    growth_cut *cuts;
    size_t cut_count;
    size_t cut_capacity;
} state_growth;

void state_growth_close(state_growth *growth);

/* Lets the parts of file number `index` die from where `built` (a grown one)
 * begins, and settles how many keys its last old extent has left. To be called
 * while the state has the file as it was before. Reads a page of a table at
 * most for each segment that has a part of the file. */
ksv_status state_growth_add(state_growth *growth, size_t index,
                            built_file *built, ksv_error *error);

/* Cuts the parts. */
ksv_status state_growth_finish(state_growth *growth, ksv_error *error);

#endif
