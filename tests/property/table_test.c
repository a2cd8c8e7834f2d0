/* SPDX-License-Identifier: MIT */
/* Tables of many shapes against a sorted array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random.h"
#include "support/table_fixture.h"

/* Makes hash number `i` of a shape. */
typedef uint64_t (*hash_fn)(random_source *random, size_t i,
                            unsigned hash_bits);

static uint64_t uniform(random_source *random, size_t i, unsigned hash_bits)
{
    (void)i;
    (void)hash_bits;
    return random_next(random);
}

/* Few places, each with many hashes close to each other. */
static uint64_t clustered(random_source *random, size_t i, unsigned hash_bits)
{
    (void)i;
    uint64_t place = random_next(random) % 5 * UINT64_C(0x3333333333333333);
    return place + (random_next(random) % 4000 << (64 - hash_bits));
}

static uint64_t sequential(random_source *random, size_t i, unsigned hash_bits)
{
    (void)random;
    return (uint64_t)i << (64 - hash_bits);
}

/* Sequential in what fences keep. */
static uint64_t stepped(random_source *random, size_t i, unsigned hash_bits)
{
    (void)random;
    (void)hash_bits;
    return (uint64_t)i << 32;
}

static uint64_t repeated(random_source *random, size_t i, unsigned hash_bits)
{
    (void)random;
    (void)i;
    (void)hash_bits;
    return UINT64_C(0xabcdef0123456789);
}

/* One group; its hashes differ in their low bits only. */
static uint64_t one_group(random_source *random, size_t i, unsigned hash_bits)
{
    (void)i;
    (void)hash_bits;
    return UINT64_C(0x1234567800000000) | (random_next(random) & UINT32_MAX);
}

/* One group, with runs longer than a page in it. */
static uint64_t group_with_runs(random_source *random, size_t i,
                                unsigned hash_bits)
{
    uint64_t low = i % 4 < 2 ? random_next(random) % 4 : 0x80000000;
    if (i % 7 == 0)
        low = random_next(random) & UINT32_MAX;
    (void)hash_bits;
    return UINT64_C(0x7fffffff00000000) + low * 2;
}

/* Many groups of up to a page and more. */
static uint64_t big_groups(random_source *random, size_t i, unsigned hash_bits)
{
    (void)i;
    (void)hash_bits;
    uint64_t r = random_next(random);
    return (r % 16) * (r % 16) << 40 | (r >> 32);
}

static uint64_t extremes(random_source *random, size_t i, unsigned hash_bits)
{
    (void)hash_bits;
    uint64_t r = random_next(random);
    return i % 3 == 0 ? 0 : i % 3 == 1 ? UINT64_MAX : r;
}

static const struct {
    const char *name;
    hash_fn hash;
} shapes[] = {{"uniform", uniform},       {"clustered", clustered},
              {"sequential", sequential}, {"stepped", stepped},
              {"repeated", repeated},     {"one group", one_group},
              {"runs", group_with_runs},  {"big groups", big_groups},
              {"extremes", extremes}};

static unsigned log2_ceil(uint64_t n)
{
    unsigned bits = 0;
    while (UINT64_C(1) << bits < n)
        bits++;
    return bits;
}

/* The first entry with these or higher top 32 bits. */
static size_t group_start(const table_fixture *f, uint64_t top)
{
    size_t low = 0;
    size_t high = f->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f->entries[middle].hash >> 32 < top)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A bound that knows nothing of pages but their size: what entries of a group
 * need when all of their low bits are kept. */
static uint64_t allowed_pages(const table_fixture *f, uint64_t hash)
{
    size_t group =
        group_start(f, (hash >> 32) + 1) - group_start(f, hash >> 32);
    unsigned kept = f->options.hash_bits - 32;
    size_t sparse = 32512 / (3 + kept + f->options.payload_bits);
    if (group <= sparse)
        return 1;
    /* A run that is not cut can leave the page before half empty. */
    uint64_t pages = 2 * (group / sparse + 1);
    return pages + log2_ceil(pages);
}

static void check_find(ksv_table *table, const table_fixture *f, uint64_t hash)
{
    payload_list list = payload_list_of(f, hash);
    uint64_t pages = 99;
    ksv_error error;
    ksv_status status =
        ksv_table_find(table, hash, payload_list_visit, &list, &pages, &error);
    if (status != KSV_OK)
        fail_msg("find %016llx: %s", (unsigned long long)hash, error.text);
    if (list.wrong || list.visited != list.expected_count)
        fail_msg("find %016llx: %zu payloads, expected %zu",
                 (unsigned long long)hash, list.visited, list.expected_count);
    uint64_t truncated = ksv_hash_truncate(hash, f->options.hash_bits);
    bool inside = f->count > 0 && truncated >= f->entries[0].hash &&
                  truncated <= f->entries[f->count - 1].hash;
    uint64_t allowed = inside ? allowed_pages(f, truncated) : 0;
    if (pages > allowed || (inside && pages == 0))
        fail_msg("find %016llx: %llu pages read, allowed %llu",
                 (unsigned long long)hash, (unsigned long long)pages,
                 (unsigned long long)allowed);
}

static void check_finds(ksv_table *table, const table_fixture *f,
                        random_source *random)
{
    uint64_t unit = UINT64_C(1) << (64 - f->options.hash_bits);
    uint64_t previous = 0;
    size_t step = f->count / 300 + 1;
    for (size_t i = 0; i < f->count; i += step) {
        uint64_t hash = f->entries[i].hash;
        if (i > 0 && hash == previous)
            continue;
        previous = hash;
        check_find(table, f, hash);
        check_find(table, f, hash - unit);
        check_find(table, f, hash + unit);
        check_find(table, f, hash | (unit - 1));
    }
    for (int i = 0; i < 50; i++)
        check_find(table, f, random_next(random));
    check_find(table, f, 0);
    check_find(table, f, UINT64_MAX);
}

static void check_iterator(ksv_table *table, const table_fixture *f)
{
    ksv_table_iterator *iterator;
    ksv_error error;
    assert_int_equal(ksv_table_iterator_open(table, &iterator, NULL), KSV_OK);
    for (size_t i = 0; i <= f->count; i++) {
        uint64_t hash, payload;
        bool end;
        if (ksv_table_iterator_next(iterator, &hash, &payload, &end, &error) !=
            KSV_OK)
            fail_msg("entry %zu: %s", i, error.text);
        assert_int_equal(end, i == f->count);
        if (!end &&
            (hash != f->entries[i].hash || payload != f->entries[i].payload))
            fail_msg("entry %zu is another", i);
    }
    bool end;
    uint64_t hash, payload;
    assert_int_equal(
        ksv_table_iterator_next(iterator, &hash, &payload, &end, NULL), KSV_OK);
    assert_true(end);
    ksv_table_iterator_close(iterator);
}

static void check_info(const table_fixture *f, const ksv_table_info *info)
{
    uint64_t distinct = 0, run = 0, longest = 0;
    for (size_t i = 0; i < f->count; i++) {
        bool same = i > 0 && f->entries[i].hash == f->entries[i - 1].hash;
        distinct += same ? 0 : 1;
        run = same ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    assert_true(info->entries == f->count);
    assert_true(info->distinct_hashes == distinct);
    assert_true(info->longest_run == longest);
    assert_true(info->file_bytes == f->file.size);
    assert_memory_equal(info->options.id, f->options.id, 16);
    assert_memory_equal(info->options.hasher.key, f->options.hasher.key, 16);
}

static void check_table(unsigned hash_bits, unsigned payload_bits, hash_fn hash,
                        size_t count, uint64_t seed)
{
    random_source random = {seed};
    table_entry *entries = table_entries_alloc(count);
    for (size_t i = 0; i < count; i++) {
        entries[i].hash = hash(&random, i, hash_bits);
        entries[i].payload = random_next(&random);
        if (i % 50 == 1)
            entries[i] = entries[i - 1];
    }
    table_fixture f;
    table_fixture_init(&f, table_options(hash_bits, payload_bits, 1), entries,
                       count);
    ksv_table *table;
    ksv_table_info info;
    assert_int_equal(ksv_table_open(&f.file.base, NULL, &table, NULL), KSV_OK);
    ksv_table_get_info(table, &info);
    check_info(&f, &info);
    check_info(&f, &f.info);
    check_finds(table, &f, &random);
    check_iterator(table, &f);
    ksv_table_close(table);
    table_fixture_release(&f);
}

static const unsigned all_hash_bits[] = {36, 40, 44, 48, 64};
static const unsigned all_payload_bits[] = {1, 13, 30, 40, 57};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void check_shape(hash_fn hash, const char *name, const size_t *counts,
                        size_t count_count)
{
    for (size_t w = 0; w < COUNT_OF(all_hash_bits); w++)
        for (size_t v = 0; v < COUNT_OF(all_payload_bits); v++)
            for (size_t c = 0; c < count_count; c++) {
                uint64_t seed = w * 100 + v * 10 + c;
                print_message("%s: w %u, v %u, n %zu, seed %llu\n", name,
                              all_hash_bits[w], all_payload_bits[v], counts[c],
                              (unsigned long long)seed);
                check_table(all_hash_bits[w], all_payload_bits[v], hash,
                            counts[c], seed);
            }
}

static void test_small_tables(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 17};
    for (size_t s = 0; s < COUNT_OF(shapes); s++)
        check_shape(shapes[s].hash, shapes[s].name, counts, COUNT_OF(counts));
}

static void test_tables_of_some_pages(void **state)
{
    (void)state;
    static const size_t counts[] = {4000};
    for (size_t s = 0; s < COUNT_OF(shapes); s++)
        check_shape(shapes[s].hash, shapes[s].name, counts, COUNT_OF(counts));
}

/* Several fence pages, evenly and very unevenly filled. */
static void test_tables_of_many_pages(void **state)
{
    (void)state;
    check_table(64, 57, uniform, 300000, 1);
    check_table(44, 57, stepped, 300000, 2);
    check_table(64, 57, one_group, 200000, 3);
}

static void test_every_length_of_a_run(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 5000; count += count < 20 ? 1 : 83)
        check_table(40, 30, repeated, count, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_tables_of_some_pages),
        cmocka_unit_test(test_tables_of_many_pages),
        cmocka_unit_test(test_every_length_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
