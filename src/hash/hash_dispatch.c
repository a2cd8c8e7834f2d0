/* SPDX-License-Identifier: MIT */
/* xxHash of long inputs by the instructions of the processor at hand. */
#include "hash/hash_dispatch.h"

#ifdef KSV_HAVE_XXH_DISPATCH

#include <xxh_x86dispatch.h>

uint64_t hash_dispatch_64(const void *data, size_t size_bytes)
{
    return XXH3_64bits(data, size_bytes);
}

void hash_dispatch_128(const void *data, size_t size_bytes, uint64_t *low,
                       uint64_t *high)
{
    XXH128_hash_t digest = XXH3_128bits(data, size_bytes);
    *low = digest.low64;
    *high = digest.high64;
}

bool hash_dispatch_knows(unsigned compiled)
{
    return XXH_versionNumber() == compiled;
}

void hash_dispatch_update(void *state, const void *data, size_t size_bytes)
{
    XXH3_128bits_update(state, data, size_bytes);
}

#else

/* A file has to declare something. */
typedef int hash_dispatch_nothing;

#endif
