/* SPDX-License-Identifier: MIT */
/* Compares the table of a data file with what the file holds. */
#ifndef KSV_VERIFY_DATA_CHECK_H
#define KSV_VERIFY_DATA_CHECK_H

#include <stdint.h>

#include "catalog/catalog.h"
#include "scan/scan_spec.h"
#include "segment/segment.h"

typedef struct data_check {
    const segment_place *place;
    const scan_spec *spec;
    const catalog_file *file;
    const catalog_segment *segment; /* NULL: none of its records has a key */
    const char *path;
} data_check;

/* Scans the file again: every record with a key has to be in the table with its
 * offset, and nothing else; counts, layout and fingerprint have to be those of
 * the catalog. KSV_ERROR_STALE tells the first difference. `*records` is added
 * to. */
ksv_status data_check_run(const data_check *check, uint64_t *records,
                          ksv_error *error);

#endif
