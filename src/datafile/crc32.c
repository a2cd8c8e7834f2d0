/* SPDX-License-Identifier: MIT */
/* The CRC-32 of gzip, by carry-less multiplication where there is one. */
#include "datafile/crc32.h"

#include "compress/zlib_bridge.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(KSV_SCALAR)
#define HAVE_CLMUL
#endif

#ifdef HAVE_CLMUL

#include <wmmintrin.h>

#define FOLD_BYTES 64
#define WORTH_FOLDING 128

/* The remainders of x^(n+32), shifted left by one since bits are reflected, for
 * n = 512, 448 (folding by 64 bytes) and 128, 64 (folding by 16). */
#define FOLD_64_LOW 0x154442bd4
#define FOLD_64_HIGH 0x1c6e41596
#define FOLD_16_LOW 0x1751997d0
#define FOLD_16_HIGH 0x0ccaa009e

/* The 16 bytes that leave the remainder of `x` moved on by the distance that
 * `by` is made for, added to `next`. */
__attribute__((target("pclmul"))) static inline __m128i
fold(__m128i x, __m128i by, __m128i next)
{
    const __m128i low = _mm_clmulepi64_si128(x, by, 0x00);
    const __m128i high = _mm_clmulepi64_si128(x, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

static inline __m128i load_16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Folds the data to 16 bytes with the same remainder; these and what is left
 * over take the portable way. `size_bytes` is WORTH_FOLDING at least. */
__attribute__((target("pclmul"))) static uint32_t
crc32_clmul(uint32_t crc, const uint8_t *data, size_t size_bytes)
{
    const __m128i by_64 = _mm_set_epi64x(FOLD_64_HIGH, FOLD_64_LOW);
    const __m128i by_16 = _mm_set_epi64x(FOLD_16_HIGH, FOLD_16_LOW);
    __m128i a = load_16(data), b = load_16(data + 16);
    __m128i c = load_16(data + 32), d = load_16(data + 48);
    a = _mm_xor_si128(a, _mm_cvtsi32_si128((int)~crc));
    const uint8_t *end = data + size_bytes;
    data += FOLD_BYTES;
    for (; end - data >= FOLD_BYTES; data += FOLD_BYTES) {
        a = fold(a, by_64, load_16(data));
        b = fold(b, by_64, load_16(data + 16));
        c = fold(c, by_64, load_16(data + 32));
        d = fold(d, by_64, load_16(data + 48));
    }
    __m128i rest = fold(fold(fold(a, by_16, b), by_16, c), by_16, d);
    for (; end - data >= 16; data += 16)
        rest = fold(rest, by_16, load_16(data));
    uint8_t bytes[16];
    _mm_storeu_si128((__m128i *)(void *)bytes, rest);
    crc = zlib_crc32(0xffffffff, bytes, sizeof bytes);
    return zlib_crc32(crc, data, (size_t)(end - data));
}

#endif

uint32_t crc32_update(uint32_t crc, const uint8_t *data, size_t size_bytes)
{
#ifdef HAVE_CLMUL
    if (size_bytes >= WORTH_FOLDING && __builtin_cpu_supports("pclmul"))
        return crc32_clmul(crc, data, size_bytes);
#endif
    return zlib_crc32(crc, data, size_bytes);
}
