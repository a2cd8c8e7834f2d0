/* SPDX-License-Identifier: MIT */
/* The radix sort against qsort, for every width of hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <keysieve/hash.h>

#include "sort/entry_sorter.h"

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int by_hash_then_payload(const void *a, const void *b)
{
    const sort_entry *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->payload > y->payload) - (x->payload < y->payload);
}

static void check(size_t count, unsigned hash_bits, unsigned spread_bits)
{
    uint64_t random = count * 64 + hash_bits;
    entry_sorter *sorter;
    assert_int_equal(entry_sorter_open(NULL, &sorter, NULL), KSV_OK);
    sort_entry *model = calloc(count + 1, sizeof *model);
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = next_random(&random);
        hash &= ~(UINT64_MAX >> 1 >> (spread_bits - 1)) | 0xff;
        model[i].hash = ksv_hash_truncate(hash, hash_bits);
        model[i].payload = i;
        assert_int_equal(entry_sorter_add(sorter, hash, i, NULL), KSV_OK);
    }
    assert_int_equal(entry_sorter_count(sorter), count);
    assert_int_equal(entry_sorter_finish(sorter, hash_bits, NULL), KSV_OK);
    qsort(model, count, sizeof *model, by_hash_then_payload);
    uint64_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || model[i].hash != model[i - 1].hash;
    if (count > 0)
        assert_memory_equal(entry_sorter_entries(sorter), model,
                            count * sizeof *model);
    assert_true(entry_sorter_distinct(sorter) == distinct);
    free(model);
    entry_sorter_close(sorter);
}

static void test_equals_qsort(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 100, 5000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (unsigned bits = 1; bits <= 64; bits++) {
            check(counts[c], bits, 64);
            check(counts[c], bits, 5); /* many equal hashes */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_equals_qsort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
