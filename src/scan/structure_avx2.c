/* SPDX-License-Identifier: MIT */
/* Structural masks with AVX2. */
#include "scan/structure_private.h"

#ifdef KSV_HAVE_AVX2

#include <immintrin.h>

KSV_TARGET_AVX2_BITS STRUCTURE_INLINE uint64_t equal_bytes(__m256i low,
                                                           __m256i high,
                                                           __m256i wanted)
{
    uint32_t l = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t h =
        (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
    return (uint64_t)h << 32 | l;
}

/* Bits of the first `skipped` bytes of the block fall out. */
KSV_TARGET_AVX2_BITS STRUCTURE_INLINE void
find_block(const uint8_t *block, const __m256i *wanted, size_t wanted_count,
           uint64_t *const *masks, size_t b, unsigned skipped)
{
    __m256i low = _mm256_loadu_si256((const void *)block);
    __m256i high = _mm256_loadu_si256((const void *)(block + 32));
    for (size_t i = 0; i < wanted_count; i++)
        masks[i][b] = equal_bytes(low, high, wanted[i]) >> skipped;
}

KSV_TARGET_AVX2_BITS STRUCTURE_INLINE void
find_all(const uint8_t *data, size_t size_bytes, const uint8_t *wanted,
         size_t wanted_count, uint64_t *const *given_masks)
{
    __m256i bytes[STRUCTURE_WANTED_MAX];
    uint64_t *masks[STRUCTURE_WANTED_MAX];
    for (size_t i = 0; i < wanted_count; i++) {
        bytes[i] = _mm256_set1_epi8((char)wanted[i]);
        masks[i] = given_masks[i];
    }
    size_t whole = size_bytes / STRUCTURE_BLOCK_BYTES;
    for (size_t b = 0; b < whole; b++)
        find_block(data + b * STRUCTURE_BLOCK_BYTES, bytes, wanted_count, masks,
                   b, 0);
    size_t left = size_bytes % STRUCTURE_BLOCK_BYTES;
    if (left == 0)
        return;
    /* The last bytes with some that were looked at before them. */
    unsigned seen = (unsigned)(STRUCTURE_BLOCK_BYTES - left);
    if (whole > 0) {
        find_block(data + size_bytes - STRUCTURE_BLOCK_BYTES, bytes,
                   wanted_count, masks, whole, seen);
        return;
    }
    structure_tail tail;
    structure_tail_fill(&tail, data, left);
    find_block(tail.bytes, bytes, wanted_count, masks, 0, 0);
    for (size_t i = 0; i < wanted_count; i++)
        masks[i][0] &= tail.valid;
}

KSV_TARGET_AVX2_BITS static void
avx2_find(const uint8_t *data, size_t size_bytes, const uint8_t *wanted,
          size_t wanted_count, uint64_t *const *masks)
{
    switch (wanted_count) {
    case 1:
        find_all(data, size_bytes, wanted, 1, masks);
        break;
    case 2:
        find_all(data, size_bytes, wanted, 2, masks);
        break;
    case 3:
        find_all(data, size_bytes, wanted, 3, masks);
        break;
    default:
        find_all(data, size_bytes, wanted, 4, masks);
        break;
    }
}

KSV_TARGET_AVX2_BITS STRUCTURE_INLINE uint64_t parity(uint64_t bits)
{
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits),
                                           _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

KSV_TARGET_AVX2_BITS static void avx2_unquote(const structure_fields *fields,
                                              size_t blocks,
                                              structure_quotes *state)
{
    structure_quotes s = *state;
    structure_unquote(fields, blocks, parity, &s);
    *state = s;
}

KSV_TARGET_AVX2_BITS static void avx2_pass(const uint8_t *data, size_t blocks,
                                           const uint8_t *wanted,
                                           uint64_t doubling,
                                           structure_quotes *state)
{
    const __m256i end = _mm256_set1_epi8((char)wanted[0]);
    const __m256i delimiter = _mm256_set1_epi8((char)wanted[1]);
    const __m256i quote = _mm256_set1_epi8((char)wanted[2]);
    structure_quotes s = *state;
    for (size_t b = 0; b < blocks; b++, data += STRUCTURE_BLOCK_BYTES) {
        __m256i low = _mm256_loadu_si256((const void *)data);
        __m256i high = _mm256_loadu_si256((const void *)(data + 32));
        uint64_t quotes = equal_bytes(low, high, quote);
        __m256i low_separators = _mm256_or_si256(
            _mm256_cmpeq_epi8(low, end), _mm256_cmpeq_epi8(low, delimiter));
        __m256i high_separators = _mm256_or_si256(
            _mm256_cmpeq_epi8(high, end), _mm256_cmpeq_epi8(high, delimiter));
        uint64_t separators =
            (uint64_t)(uint32_t)_mm256_movemask_epi8(high_separators) << 32 |
            (uint32_t)_mm256_movemask_epi8(low_separators);
        (void)structure_inside(separators, quotes, doubling, parity, &s);
    }
    *state = s;
}

KSV_TARGET_AVX2_BITS STRUCTURE_INLINE unsigned lowest(uint64_t bits)
{
    return (unsigned)_tzcnt_u64(bits);
}

KSV_TARGET_AVX2_BITS static size_t avx2_list(const uint64_t *mask,
                                             size_t blocks, uint16_t *positions)
{
    return structure_list(mask, blocks, lowest, positions);
}

const structure_kernels structure_avx2 = {
    .name = "AVX2",
    .find = avx2_find,
    .unquote = avx2_unquote,
    .pass = avx2_pass,
    .list = avx2_list,
};

#endif
