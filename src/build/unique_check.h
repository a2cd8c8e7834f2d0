/* SPDX-License-Identifier: MIT */
/* Finds a key that occurs twice in an index. */
#ifndef KSV_BUILD_UNIQUE_CHECK_H
#define KSV_BUILD_UNIQUE_CHECK_H

#include "catalog/catalog.h"
#include "scan/scan_spec.h"
#include "segment/segment.h"

/* KSV_ERROR_DUPLICATE names both places of the first key that two records of
 * `state` share. Keys are compared in the data wherever hashes are equal. */
ksv_status unique_check(const segment_place *place, const char *real_directory,
                        const scan_spec *spec, const catalog_state *state,
                        ksv_error *error);

#endif
