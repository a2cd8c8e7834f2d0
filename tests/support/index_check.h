/* SPDX-License-Identifier: MIT */
/* Compares an index with the model of its data. */
#ifndef KSV_TESTS_SUPPORT_INDEX_CHECK_H
#define KSV_TESTS_SUPPORT_INDEX_CHECK_H

#include <stdbool.h>

#include <keysieve/index.h>

#include "support/data_set.h"

/* Asks `index` for every key of the key space and as many that are outside, and
 * compares file, offset, length, bytes and order with the model. Returns NULL
 * or what is wrong (in static memory). */
const char *index_check_all(ksv_index *index, data_set *set, bool linear_scan);

/* Opens the index in `directory` and checks it both ways, and ranges of keys
 * where it has them. */
const char *index_check_directory(const char *directory, data_set *set);

#endif
