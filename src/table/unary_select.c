/* SPDX-License-Identifier: MIT */
/* Finds a zero by its number: in portable code, and where the processor counts
 * bits itself. */
#include "table/unary_select.h"

#include "base/cpu_features.h"
#include "table/bit_packing.h"

size_t unary_select_zero_portable(const uint8_t *data, size_t size_bits,
                                  size_t rank)
{
    if (rank == 0)
        return 0;
    size_t before = 0;
    for (size_t start = 0; start < size_bits; start += 64) {
        uint64_t zeros = ~load_u64(data + start / 8);
        size_t more = bits_count(zeros);
        if (before + more >= rank) {
            size_t end =
                start + bits_select(zeros, (unsigned)(rank - 1 - before)) + 1;
            return end < size_bits ? end : size_bits;
        }
        before += more;
    }
    return size_bits;
}

#ifdef KSV_HAVE_AVX2

#define TARGET_POPCNT __attribute__((target("popcnt")))

/* As bits_select(). */
TARGET_POPCNT static inline unsigned select_counted(uint64_t word,
                                                    unsigned rank)
{
    unsigned position = 0;
    for (unsigned half = 32; half > 0; half /= 2) {
        unsigned below =
            (unsigned)__builtin_popcountll(word >> position & bits_mask(half));
        unsigned skip = rank >= below ? 1 : 0;
        position += skip * half;
        rank -= skip * below;
    }
    return position;
}

TARGET_POPCNT static size_t select_zero_counted(const uint8_t *data,
                                                size_t size_bits, size_t rank)
{
    size_t before = 0;
    for (size_t start = 0; start < size_bits; start += 64) {
        uint64_t zeros = ~load_u64(data + start / 8);
        size_t more = (size_t)__builtin_popcountll(zeros);
        if (before + more >= rank) {
            size_t end = start +
                         select_counted(zeros, (unsigned)(rank - 1 - before)) +
                         1;
            return end < size_bits ? end : size_bits;
        }
        before += more;
    }
    return size_bits;
}

size_t unary_select_zero(const uint8_t *data, size_t size_bits, size_t rank)
{
    if (rank == 0)
        return 0;
    if (__builtin_cpu_supports("popcnt"))
        return select_zero_counted(data, size_bits, rank);
    return unary_select_zero_portable(data, size_bits, rank);
}

#else

size_t unary_select_zero(const uint8_t *data, size_t size_bits, size_t rank)
{
    return unary_select_zero_portable(data, size_bits, rank);
}

#endif
