/* SPDX-License-Identifier: MIT */
/* Probing many blocks at once, in the best way that the processor has. */
#ifndef KSV_FILTER_BLOOM_PROBE_H
#define KSV_FILTER_BLOOM_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For each i below `count`: whether `blocks[i]` may contain the truncated hash
 * `hashes[i]`. `functions` is 1..16. All versions give the same answers. */
typedef void (*bloom_probe_fn)(const uint8_t *const *blocks,
                               const uint64_t *hashes, size_t count,
                               unsigned functions, bool *may_contain);

void bloom_probe_scalar(const uint8_t *const *blocks, const uint64_t *hashes,
                        size_t count, unsigned functions, bool *may_contain);

/* Only where cpu_has_avx2(). */
void bloom_probe_avx2(const uint8_t *const *blocks, const uint64_t *hashes,
                      size_t count, unsigned functions, bool *may_contain);

/* The fastest version that this processor runs. */
bloom_probe_fn bloom_probe_choose(void);

#endif
