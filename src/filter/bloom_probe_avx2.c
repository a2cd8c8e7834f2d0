/* SPDX-License-Identifier: MIT */
/* Probing blocks with AVX2: eight bits of a block at once. */
#include "filter/bloom_probe.h"

#include "base/cpu_features.h"

#ifdef KSV_HAVE_AVX2
#include <immintrin.h>

#include "filter/bloom_block.h"

/* Ones for the lanes that take part: loaded at 8 - n, n of them. */
static const uint32_t LANE_ONES[16] = {1, 1, 1, 1, 1, 1, 1, 1};

/* Whether the first `lanes` (1..8) of the eight probes made of `multipliers`
 * all meet a bit that is set. A product's top 4 bits name one of the 16 words
 * of a block, the top one being its half; the next 5 bits name a bit of it. */
KSV_TARGET_AVX2 static inline bool
probe_eight(__m256i low_words, __m256i high_words, uint64_t mixed,
            const uint32_t *multipliers, unsigned lanes)
{
    __m256i product =
        _mm256_mullo_epi32(_mm256_set1_epi64x((long long)mixed),
                           _mm256_loadu_si256((const __m256i *)multipliers));
    __m256i word = _mm256_srli_epi32(product, 28);
    __m256i bit = _mm256_srli_epi32(_mm256_slli_epi32(product, 4), 27);
    __m256i low = _mm256_permutevar8x32_epi32(low_words, word);
    __m256i high = _mm256_permutevar8x32_epi32(high_words, word);
    __m256i words = _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                         _mm256_castsi256_ps(product)));
    __m256i ones = _mm256_loadu_si256(
        (const __m256i *)(const void *)(LANE_ONES + 8 - lanes));
    return _mm256_testc_si256(words, _mm256_sllv_epi32(ones, bit)) != 0;
}

KSV_TARGET_AVX2 static inline bool
probe_block(const uint8_t *block, uint64_t hash, unsigned functions)
{
    const __m256i *halves = (const __m256i *)(const void *)block;
    __m256i low = _mm256_loadu_si256(halves);
    __m256i high = _mm256_loadu_si256(halves + 1);
    uint64_t mixed = bloom_mix(hash);
    if (functions <= 8)
        return probe_eight(low, high, mixed, BLOOM_MULTIPLIER, functions);
    return probe_eight(low, high, mixed, BLOOM_MULTIPLIER, 8) &&
           probe_eight(low, high, mixed, BLOOM_MULTIPLIER + 8, functions - 8);
}

KSV_TARGET_AVX2 void bloom_probe_avx2(const uint8_t *const *blocks,
                                      const uint64_t *hashes, size_t count,
                                      unsigned functions, bool *may_contain)
{
    for (size_t i = 0; i < count; i++)
        may_contain[i] = probe_block(blocks[i], hashes[i], functions);
}

#else

/* A file may not be empty. */
typedef int bloom_probe_avx2_is_absent;

#endif
