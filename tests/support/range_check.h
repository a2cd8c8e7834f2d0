/* SPDX-License-Identifier: MIT */
/* Compares ranges of keys of an index with the model of its data. */
#ifndef KSV_TESTS_SUPPORT_RANGE_CHECK_H
#define KSV_TESTS_SUPPORT_RANGE_CHECK_H

#include <stdbool.h>

#include <keysieve/range.h>

#include "support/data_set.h"

/* Asks for `rounds` random prefixes and ranges in all ways, by linear scan too
 * when `linear`, and goes back and forth with an iterator. NULL, or what is
 * wrong (in static memory). */
const char *range_check_all(ksv_index *index, data_set *set, size_t rounds,
                            bool linear, uint64_t seed);

#endif
