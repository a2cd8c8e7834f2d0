/* SPDX-License-Identifier: MIT */
/* Compares the tables of a data file with what the file holds. */
#ifndef KSV_VERIFY_DATA_CHECK_H
#define KSV_VERIFY_DATA_CHECK_H

#include <stdint.h>

#include "catalog/catalog.h"
#include "scan/scan_spec.h"
#include "segment/entry_sum.h"
#include "segment/segment.h"

typedef struct data_check {
    const segment_place *place;
    const scan_spec *spec;
    const catalog_state *state;
    const catalog_file *file;
    /* Of its parts in all segments; NULL: not known, a table is damaged. */
    const entry_sum *entries;
    const char *path;
} data_check;

/* Scans the file again: the tables have to hold just the records with keys, and
 * the filters of its extents all their keys; counts, layout and
 * content hash have to be those of the catalog. KSV_ERROR_STALE tells what
 * differs. `*records` is added to. */
ksv_status data_check_run(const data_check *check, uint64_t *records,
                          ksv_error *error);

#endif
