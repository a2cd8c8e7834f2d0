/* SPDX-License-Identifier: MIT */
/* Answers for a range of keys by reading every data file from its start. */
#ifndef KSV_LOOKUP_LINEAR_RANGE_H
#define KSV_LOOKUP_LINEAR_RANGE_H

#include <keysieve/range.h>

#include "lookup/index_snapshot.h"
#include "lookup/range_visit.h"

/* As ksv_get_range() with `linear_scan`. Holds the keys of the range and where
 * they are in memory. */
ksv_status linear_range(index_snapshot *snapshot, const ksv_range *range,
                        range_visit *visit, ksv_receipt *receipt,
                        ksv_error *error);

#endif
