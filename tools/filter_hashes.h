/* SPDX-License-Identifier: MIT */
/* Which of many hashes differ. */
#ifndef KSV_TOOLS_FILTER_HASHES_H
#define KSV_TOOLS_FILTER_HASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts `*count` hashes and drops those that are there already; `*count` is how
 * many are left. Takes as much memory again meanwhile: false when there is
 * none. */
bool filter_hashes_make_distinct(uint64_t *hashes, size_t *count);

#endif
