/* SPDX-License-Identifier: MIT */
/* Probing many blocks at once with portable code, and the choice of a version.
 */
#include "filter/bloom_probe.h"

#include "base/cpu_features.h"
#include "filter/bloom_block.h"

void bloom_probe_scalar(const uint8_t *const *blocks, const uint64_t *hashes,
                        size_t count, unsigned functions, bool *may_contain)
{
    for (size_t i = 0; i < count; i++)
        may_contain[i] =
            bloom_block_may_contain(blocks[i], hashes[i], functions);
}

bloom_probe_fn bloom_probe_choose(void)
{
#ifdef KSV_HAVE_AVX2
    if (cpu_has_avx2())
        return bloom_probe_avx2;
#endif
    return bloom_probe_scalar;
}
