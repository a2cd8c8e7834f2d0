/* SPDX-License-Identifier: MIT */
/* Random catalog states and a comparison that knows nothing of their coding. */
#ifndef KSV_TESTS_SUPPORT_CATALOG_SAMPLES_H
#define KSV_TESTS_SUPPORT_CATALOG_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/catalog.h"

/* A small generator of random numbers; the seed is its whole state. */
uint64_t sample_random(uint64_t *seed);
/* Below `limit`. */
uint64_t sample_below(uint64_t *seed, uint64_t limit);

/* A state with parameters but without files; `state` is initialised here. */
void sample_start(catalog_state *state, uint64_t *seed);

/* Adds `count` files, most of them with a segment of their own. */
void sample_add_files(catalog_state *state, uint64_t *seed, size_t count);

/* Removes files and segments at random, and changes others. */
void sample_change(catalog_state *state, uint64_t *seed);

/* A copy that owns its memory. */
void sample_copy(const catalog_state *from, catalog_state *to);

/* Whether all but the generation and the allocator are the same. */
bool sample_equal(const catalog_state *a, const catalog_state *b);

#endif
