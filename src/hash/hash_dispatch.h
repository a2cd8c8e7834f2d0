/* SPDX-License-Identifier: MIT */
/* xxHash of long inputs by the instructions of the processor at hand, where the
 * library brings them along. */
#ifndef KSV_HASH_HASH_DISPATCH_H
#define KSV_HASH_HASH_DISPATCH_H

#ifdef KSV_HAVE_XXH_DISPATCH

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* XXH3, seed 0: the same results as those of portable code. */
uint64_t hash_dispatch_64(const void *data, size_t size_bytes);
void hash_dispatch_128(const void *data, size_t size_bytes, uint64_t *low,
                       uint64_t *high);

/* Whether `state` of hash_dispatch_update() looks to the library that was
 * loaded as to the one of version `compiled`. */
bool hash_dispatch_knows(unsigned compiled);
/* `state` is an XXH3_state_t for 128 bits. */
void hash_dispatch_update(void *state, const void *data, size_t size_bytes);

#endif

#endif
