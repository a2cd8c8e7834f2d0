/* SPDX-License-Identifier: MIT */
/* Key hashes against vectors of others, checksums, fingerprints, ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hash/hash.h"
#include "io/file.h"
#include "io/memory_file_system.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_siphash_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
