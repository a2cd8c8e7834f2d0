/* SPDX-License-Identifier: MIT */
/* What follows from the shape of a filter of either kind. */
#ifndef KSV_FILTER_FILTER_GEOMETRY_H
#define KSV_FILTER_FILTER_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/filter.h>

/* The rate of a textbook filter with so many keys, before collisions of
 * hashes. */
double filter_classic_rate(uint64_t bits, unsigned functions, uint64_t keys);

/* The number of keys that most likely set `set_bits` bits; UINT64_MAX when all
 * are set. */
uint64_t filter_keys_of_bits(const ksv_filter_plan *plan, uint64_t set_bits);

/* Whether two filters place every hash alike, so that they can be merged. */
bool filter_same_geometry(const ksv_filter_options *a,
                          const ksv_filter_options *b);

/* That in words, such as "blocked, 1536 bits, 7 hash functions, XXH3". */
#define FILTER_GEOMETRY_BYTES 160
void filter_describe(const ksv_filter_options *options,
                     char text[FILTER_GEOMETRY_BYTES]);

#endif
