/* SPDX-License-Identifier: MIT */
/* Structural masks with portable code, and the choice of a version. */
#include "scan/structure.h"

#include "base/coding.h"
#include "scan/structure_private.h"

#define TOPS UINT64_C(0x8080808080808080)
#define ONES UINT64_C(0x0101010101010101)

/* Bit i: byte i of `word` is that of `pattern`, which repeats it. */
static inline uint64_t equal_bytes(uint64_t word, uint64_t pattern)
{
    uint64_t x = word ^ pattern;
    uint64_t zeros = ~(((x & ~TOPS) + ~TOPS) | x | ~TOPS);
    /* Gathers the top bits of the bytes in the top byte, without carries. */
    return ((zeros >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

static uint64_t find_in_block(const uint8_t *block, uint8_t wanted)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; i++)
        mask |= equal_bytes(load_u64(block + 8 * i), wanted * ONES) << (8 * i);
    return mask;
}

static void portable_find(const uint8_t *data, size_t size_bytes,
                          const uint8_t *wanted, size_t wanted_count,
                          uint64_t *const *masks)
{
    size_t whole = size_bytes / STRUCTURE_BLOCK_BYTES;
    for (size_t b = 0; b < whole; b++) {
        for (size_t i = 0; i < wanted_count; i++)
            masks[i][b] =
                find_in_block(data + b * STRUCTURE_BLOCK_BYTES, wanted[i]);
    }
    size_t left = size_bytes % STRUCTURE_BLOCK_BYTES;
    if (left == 0)
        return;
    structure_tail tail;
    structure_tail_fill(&tail, data + size_bytes - left, left);
    for (size_t i = 0; i < wanted_count; i++)
        masks[i][whole] = find_in_block(tail.bytes, wanted[i]) & tail.valid;
}

static void portable_unquote(const structure_fields *fields, size_t blocks,
                             structure_quotes *state)
{
    structure_unquote(fields, blocks, structure_parity, state);
}

static void portable_pass(const uint8_t *data, size_t blocks,
                          const uint8_t *wanted, uint64_t doubling,
                          structure_quotes *state)
{
    for (size_t b = 0; b < blocks; b++, data += STRUCTURE_BLOCK_BYTES)
        (void)structure_inside(
            find_in_block(data, wanted[0]) | find_in_block(data, wanted[1]),
            find_in_block(data, wanted[2]), doubling, structure_parity, state);
}

static size_t portable_list(const uint64_t *mask, size_t blocks,
                            uint16_t *positions)
{
    size_t count = 0;
    for (size_t b = 0; b < blocks; b++) {
        for (uint64_t bits = mask[b]; bits != 0; bits &= bits - 1)
            positions[count++] =
                (uint16_t)(b * STRUCTURE_BLOCK_BYTES + bits_lowest(bits));
    }
    return count;
}

const structure_kernels structure_portable = {
    .name = "portable",
    .find = portable_find,
    .unquote = portable_unquote,
    .pass = portable_pass,
    .list = portable_list,
};

void structure_drop_escaped(const uint64_t *backslashes, uint64_t *quotes,
                            uint64_t *delimiters, size_t blocks,
                            uint64_t *escaped)
{
    for (size_t b = 0; b < blocks; b++) {
        uint64_t dropped = *escaped;
        uint64_t left = backslashes[b] & ~dropped;
        *escaped = 0;
        while (left != 0) {
            uint64_t first = left & (0 - left);
            dropped |= first << 1;
            *escaped = first >> 63;
            left &= ~(first | first << 1);
        }
        quotes[b] &= ~dropped;
        delimiters[b] &= ~dropped;
    }
}

void structure_versions(
    const structure_kernels *versions[STRUCTURE_VERSIONS_MAX])
{
    size_t count = 0;
#ifdef KSV_HAVE_AVX512
    if (cpu_has_avx512_bits())
        versions[count++] = &structure_avx512;
#endif
#ifdef KSV_HAVE_AVX2
    if (cpu_has_avx2_bits())
        versions[count++] = &structure_avx2;
#endif
#ifdef KSV_HAVE_NEON
    versions[count++] = &structure_neon;
#endif
    versions[count++] = &structure_portable;
    if (count < STRUCTURE_VERSIONS_MAX)
        versions[count] = NULL;
}

const structure_kernels *structure_choose(void)
{
    const structure_kernels *versions[STRUCTURE_VERSIONS_MAX];
    structure_versions(versions);
    return versions[0];
}
