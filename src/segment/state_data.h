/* SPDX-License-Identifier: MIT */
/* Data files of an index, opened by what its catalog says of them. */
#ifndef KSV_SEGMENT_STATE_DATA_H
#define KSV_SEGMENT_STATE_DATA_H

#include "segment/segment.h"
#include "segment/table_data.h"

/* Opens a file whenever it is asked for, without looking at its times. Borrowed
 * members. */
typedef struct state_data {
    table_data base;
    const ksv_file_system *fs;
    const char *directory; /* of the index */
    const ksv_allocator *allocator;
    const catalog_state *state;
} state_data;

/* All that `place` points to is borrowed. */
void state_data_init(state_data *data, const segment_place *place,
                     const char *directory, const catalog_state *state,
                     const scan_spec *spec);

#endif
