/* SPDX-License-Identifier: MIT */
/* SipHash-1-3: a hash that stays even for keys that an adversary chooses. */
#include "hash/siphash.h"

#include "base/coding.h"

#define FINAL_ROUNDS 3

typedef struct sip_state {
    uint64_t v0;
    uint64_t v1;
    uint64_t v2;
    uint64_t v3;
} sip_state;

static inline uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void sip_round(sip_state *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate_left(s->v1, 13) ^ s->v0;
    s->v3 = rotate_left(s->v3, 16) ^ s->v2;
    s->v0 = rotate_left(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate_left(s->v1, 17) ^ s->v2;
    s->v3 = rotate_left(s->v3, 21) ^ s->v0;
    s->v2 = rotate_left(s->v2, 32);
}

static inline void add_word(sip_state *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

/* Up to 7 bytes that are left, under the low byte of the length. */
static uint64_t last_word(const uint8_t *data, size_t left_bytes,
                          size_t size_bytes)
{
    uint64_t word = (uint64_t)size_bytes << 56;
    for (size_t i = 0; i < left_bytes; i++)
        word |= (uint64_t)data[i] << (8 * i);
    return word;
}

uint64_t siphash_1_3(const uint8_t key[16], const void *data, size_t size_bytes)
{
    /* "somepseudorandomlygeneratedbytes" */
    uint64_t k0 = load_u64(key);
    uint64_t k1 = load_u64(key + 8);
    sip_state s = {
        k0 ^ 0x736f6d6570736575,
        k1 ^ 0x646f72616e646f6d,
        k0 ^ 0x6c7967656e657261,
        k1 ^ 0x7465646279746573,
    };
    const uint8_t *bytes = data;
    size_t words_bytes = size_bytes - size_bytes % 8;
    for (size_t i = 0; i < words_bytes; i += 8)
        add_word(&s, load_u64(bytes + i));
    size_t left = size_bytes % 8;
    add_word(&s, last_word(left > 0 ? bytes + words_bytes : bytes, left,
                           size_bytes));
    s.v2 ^= 0xff;
    for (int i = 0; i < FINAL_ROUNDS; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
