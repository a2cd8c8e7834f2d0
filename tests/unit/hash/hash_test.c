/* SPDX-License-Identifier: MIT */
/* Key hashes and checksums against vectors of others; ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/coding.h"
#include "hash/hash.h"
#include "unit/hash/siphash_vectors.h"

static void test_siphash_vectors(void **state)
{
    (void)state;
    ksv_hasher hasher = {.kind = KSV_HASH_SIPHASH};
    uint8_t bytes[65];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    memcpy(hasher.key, bytes, sizeof hasher.key);
    uint8_t unaligned[66];
    memcpy(unaligned + 1, bytes, sizeof bytes);
    for (size_t n = 0; n < 64; n++) {
        assert_true(ksv_hash(&hasher, bytes, n) == SIPHASH_1_3_VECTORS[n]);
        assert_true(ksv_hash(&hasher, unaligned + 1, n) ==
                    SIPHASH_1_3_VECTORS[n]);
    }
    assert_true(ksv_hash(&hasher, NULL, 0) == SIPHASH_1_3_VECTORS[0]);
}

/* Those with which the authors of xxHash check their own: the seed is the
 * second number that makes the bytes. */
static void test_xxh3_vectors(void **state)
{
    (void)state;
    const uint64_t seed = 0x9e3779b185ebca8d;
    static const struct {
        size_t size;
        uint64_t plain;
        uint64_t seeded;
    } VECTORS[] = {
        {0, 0x2d06800538d394c2, 0xa8a6b918b2f0364a},
        {1, 0xc44bdff4074eecdb, 0x032be332dd766ef8},
        {6, 0x27b56a84cd2d7325, 0x84589c116ab59ab9},
        {12, 0xa713daf0dfbb77e7, 0xe7303e1b2336de0e},
        {24, 0xa3fe70bf9d3510eb, 0x850e80fc35bdd690},
        {48, 0x397da259ecba1f11, 0xadc2cbaa44acc616},
        {80, 0xbcdefbbb2c47c90a, 0xc6dd0cb699532e73},
        {195, 0xcd94217ee362ec3a, 0xba68003d370cb3d9},
        {403, 0xcdeb804d65c6dea4, 0x6259f6ecfd6443fd},
        {512, 0x617e49599013cb6b, 0x3ce457de14c27708},
        {2048, 0xdd59e2c3a5f038e0, 0x66f81670669ababc},
        {2240, 0x6e73a90539cf2948, 0x757ba8487d1b5247},
        {2367, 0xcb37aeb9e5d361ed, 0xd2db3415b942b42a},
    };
    uint8_t bytes[2367];
    uint64_t generator = 2654435761u;
    for (size_t i = 0; i < sizeof bytes; i++, generator *= seed)
        bytes[i] = (uint8_t)(generator >> 56);
    ksv_hasher plain = {.kind = KSV_HASH_XXH3};
    ksv_hasher seeded = {.kind = KSV_HASH_XXH3};
    store_u64(seeded.key, seed);
    ksv_hasher unknown = seeded;
    unknown.kind = (ksv_hash_kind)99;
    /* The second half of the key is for others. */
    seeded.key[8] = 1;
    for (size_t i = 0; i < sizeof VECTORS / sizeof VECTORS[0]; i++) {
        size_t size = VECTORS[i].size;
        assert_true(ksv_hash(&plain, bytes, size) == VECTORS[i].plain);
        assert_true(ksv_hash(&seeded, bytes, size) == VECTORS[i].seeded);
        assert_true(ksv_hash(&unknown, bytes, size) == VECTORS[i].seeded);
        assert_true(hash_checksum64(bytes, size) == VECTORS[i].plain);
        assert_true(hash_checksum32(bytes, size) ==
                    (VECTORS[i].plain & UINT32_MAX));
    }
}

static void test_truncation_keeps_the_top_bits(void **state)
{
    (void)state;
    uint64_t hash = 0xfedcba9876543210;
    assert_true(ksv_hash_truncate(hash, 64) == hash);
    assert_true(ksv_hash_truncate(hash, 63) == hash);
    assert_true(ksv_hash_truncate(hash, 44) == 0xfedcba9876500000);
    assert_true(ksv_hash_truncate(hash, 36) == 0xfedcba9870000000);
    assert_true(ksv_hash_truncate(hash, 1) == 0x8000000000000000);
}

static void test_ids_differ(void **state)
{
    (void)state;
    enum { IDS = 64 };
    uint8_t ids[IDS][16];
    for (size_t i = 0; i < IDS; i++) {
        hash_random_id(ids[i]);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(ids[i], ids[k], 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_siphash_vectors),
        cmocka_unit_test(test_xxh3_vectors),
        cmocka_unit_test(test_truncation_keeps_the_top_bits),
        cmocka_unit_test(test_ids_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
