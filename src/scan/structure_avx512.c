/* SPDX-License-Identifier: MIT */
/* Structural masks with AVX-512. */
#include "scan/structure_private.h"

#ifdef KSV_HAVE_AVX512

#include <immintrin.h>

KSV_TARGET_AVX512_BITS STRUCTURE_INLINE void
find_all(const uint8_t *data, size_t size_bytes, const uint8_t *wanted,
         size_t wanted_count, uint64_t *const *given_masks)
{
    __m512i bytes[STRUCTURE_WANTED_MAX];
    uint64_t *masks[STRUCTURE_WANTED_MAX];
    for (size_t i = 0; i < wanted_count; i++) {
        bytes[i] = _mm512_set1_epi8((char)wanted[i]);
        masks[i] = given_masks[i];
    }
    size_t whole = size_bytes / STRUCTURE_BLOCK_BYTES;
    for (size_t b = 0; b < whole; b++) {
        __m512i block = _mm512_loadu_si512(data + b * STRUCTURE_BLOCK_BYTES);
        for (size_t i = 0; i < wanted_count; i++)
            masks[i][b] = _mm512_cmpeq_epi8_mask(block, bytes[i]);
    }
    size_t left = size_bytes % STRUCTURE_BLOCK_BYTES;
    if (left == 0)
        return;
    uint64_t valid = (UINT64_C(1) << left) - 1;
    __m512i block = _mm512_maskz_loadu_epi8(valid, data + size_bytes - left);
    for (size_t i = 0; i < wanted_count; i++)
        masks[i][whole] = _mm512_mask_cmpeq_epi8_mask(valid, block, bytes[i]);
}

KSV_TARGET_AVX512_BITS static void
avx512_find(const uint8_t *data, size_t size_bytes, const uint8_t *wanted,
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

KSV_TARGET_AVX512_BITS STRUCTURE_INLINE uint64_t parity(uint64_t bits)
{
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits),
                                           _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

KSV_TARGET_AVX512_BITS static void
avx512_unquote(const structure_fields *fields, size_t blocks,
               structure_quotes *state)
{
    structure_quotes s = *state;
    structure_unquote(fields, blocks, parity, &s);
    *state = s;
}

KSV_TARGET_AVX512_BITS static void
avx512_pass(const uint8_t *data, size_t blocks, const uint8_t *wanted,
            uint64_t doubling, structure_quotes *state)
{
    const __m512i end = _mm512_set1_epi8((char)wanted[0]);
    const __m512i delimiter = _mm512_set1_epi8((char)wanted[1]);
    const __m512i quote = _mm512_set1_epi8((char)wanted[2]);
    structure_quotes s = *state;
    for (size_t b = 0; b < blocks; b++, data += STRUCTURE_BLOCK_BYTES) {
        __m512i block = _mm512_loadu_si512(data);
        uint64_t separators = _mm512_cmpeq_epi8_mask(block, end) |
                              _mm512_cmpeq_epi8_mask(block, delimiter);
        uint64_t quotes = _mm512_cmpeq_epi8_mask(block, quote);
        (void)structure_inside(separators, quotes, doubling, parity, &s);
    }
    *state = s;
}

KSV_TARGET_AVX512_BITS STRUCTURE_INLINE unsigned lowest(uint64_t bits)
{
    return (unsigned)_tzcnt_u64(bits);
}

KSV_TARGET_AVX512_BITS static size_t
avx512_list(const uint64_t *mask, size_t blocks, uint16_t *positions)
{
    return structure_list(mask, blocks, lowest, positions);
}

const structure_kernels structure_avx512 = {
    .name = "AVX-512",
    .find = avx512_find,
    .unquote = avx512_unquote,
    .pass = avx512_pass,
    .list = avx512_list,
};

#endif
