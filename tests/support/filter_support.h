/* SPDX-License-Identifier: MIT */
/* Filters for tests: options, hashes that look random, files. */
#ifndef KSV_TESTS_FILTER_SUPPORT_H
#define KSV_TESTS_FILTER_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/filter.h>

#include "support/byte_file.h"

/* The `i`-th number of a sequence named by `seed` (splitmix64). */
uint64_t test_hash(uint64_t seed, uint64_t i);

/* Options for so many keys, with an id made from `seed`. */
ksv_filter_options test_filter_options(uint64_t keys, double fpr,
                                       unsigned hash_bits, uint64_t seed);

/* Options of filters in memory: of blocks, and of the textbook's kind. */
ksv_filter_options test_blocked_options(uint64_t keys, double fpr);
ksv_filter_options test_classic_options(uint64_t bits, unsigned functions,
                                        uint64_t keys);
ksv_filter_builder *test_open_builder(const ksv_filter_options *options);
/* Adds test_hash(seed, first..end-1). */
void test_add_range(ksv_filter_builder *builder, uint64_t seed, uint64_t first,
                    uint64_t end);

/* Ascending truncated hashes test_hash(seed, 0..count-1); release with free().
 */
uint64_t *test_sorted_hashes(uint64_t seed, size_t count, unsigned hash_bits);

/* A file made with a ksv_filter_writer from ascending hashes; `f` is made. */
void test_write_filter(byte_file *f, const ksv_filter_options *options,
                       const uint64_t *hashes, size_t count);

#endif
