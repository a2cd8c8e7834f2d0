/* SPDX-License-Identifier: MIT */
/* Structural masks with NEON. */
#include "scan/structure_private.h"

#ifdef KSV_HAVE_NEON

#include <arm_neon.h>

static const uint8_t BIT_OF_BYTE[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                        1, 2, 4, 8, 16, 32, 64, 128};

/* Adding neighbours three times gathers a bit of each byte. */
STRUCTURE_INLINE uint64_t equal_bytes(const uint8x16_t *block,
                                      uint8x16_t wanted, uint8x16_t bits)
{
    uint8x16_t a = vandq_u8(vceqq_u8(block[0], wanted), bits);
    uint8x16_t b = vandq_u8(vceqq_u8(block[1], wanted), bits);
    uint8x16_t c = vandq_u8(vceqq_u8(block[2], wanted), bits);
    uint8x16_t d = vandq_u8(vceqq_u8(block[3], wanted), bits);
    uint8x16_t sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u64(vreinterpretq_u64_u8(sums), 0);
}

STRUCTURE_INLINE void find_block(const uint8_t *data, const uint8_t *wanted,
                                 size_t wanted_count, uint64_t *const *masks,
                                 size_t b, uint64_t valid)
{
    uint8x16_t bits = vld1q_u8(BIT_OF_BYTE);
    uint8x16_t block[4] = {vld1q_u8(data), vld1q_u8(data + 16),
                           vld1q_u8(data + 32), vld1q_u8(data + 48)};
    for (size_t i = 0; i < wanted_count; i++)
        masks[i][b] = equal_bytes(block, vdupq_n_u8(wanted[i]), bits) & valid;
}

static void neon_find(const uint8_t *data, size_t size_bytes,
                      const uint8_t *wanted, size_t wanted_count,
                      uint64_t *const *masks)
{
    size_t whole = size_bytes / STRUCTURE_BLOCK_BYTES;
    for (size_t b = 0; b < whole; b++)
        find_block(data + b * STRUCTURE_BLOCK_BYTES, wanted, wanted_count,
                   masks, b, ~UINT64_C(0));
    size_t left = size_bytes % STRUCTURE_BLOCK_BYTES;
    if (left == 0)
        return;
    structure_tail tail;
    structure_tail_fill(&tail, data + size_bytes - left, left);
    find_block(tail.bytes, wanted, wanted_count, masks, whole, tail.valid);
}

static void neon_unquote(const structure_fields *fields, size_t blocks,
                         structure_quotes *state)
{
    structure_unquote(fields, blocks, structure_parity, state);
}

static void neon_pass(const uint8_t *data, size_t blocks, const uint8_t *wanted,
                      uint64_t doubling, structure_quotes *state)
{
    for (size_t b = 0; b < blocks; b++, data += STRUCTURE_BLOCK_BYTES) {
        uint64_t words[3];
        uint64_t *const masks[3] = {words, words + 1, words + 2};
        find_block(data, wanted, 3, masks, 0, ~UINT64_C(0));
        (void)structure_inside(words[0] | words[1], words[2], doubling,
                               structure_parity, state);
    }
}

STRUCTURE_INLINE unsigned lowest(uint64_t bits)
{
    return bits_lowest(bits | UINT64_C(1) << 63);
}

static size_t neon_list(const uint64_t *mask, size_t blocks,
                        uint16_t *positions)
{
    return structure_list(mask, blocks, lowest, positions);
}

const structure_kernels structure_neon = {
    .name = "NEON",
    .find = neon_find,
    .unquote = neon_unquote,
    .pass = neon_pass,
    .list = neon_list,
};

#endif
