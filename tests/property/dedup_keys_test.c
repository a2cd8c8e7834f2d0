/* SPDX-License-Identifier: MIT */
/* Random streams of keys against a table of when each was passed last: in
 * little memory, so that nearly all is on disk; with hashes that collide; with
 * and without windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dedup/exact_keys.h"
#include "io/memory_file_system.h"
#include "support/fault_allocator.h"
#include "support/pace.h"
#include "support/random.h"
#include "window/generations.h"

#define NEVER INT64_MIN
#define KEY_BYTES_MAX 20000

typedef struct stream_case {
    uint64_t seed;
    uint64_t ids;
    unsigned hash_bits; /* of the hashes that are not 0 */
    uint64_t long_one_in;
    int64_t window_ms;
    int64_t slice_ms;
    int64_t step_ms; /* time between two keys, at most */
    uint64_t offers;
    uint64_t memory_bytes;
} stream_case;

/* The key of an id: of many lengths, the longest over several pages, with long
 * beginnings in common. */
static size_t make_key(const stream_case *c, uint64_t id, uint8_t *out)
{
    if (id < 200) {
        out[0] = (uint8_t)id;
        return 1;
    }
    size_t size = 8 + id % 24;
    if (c->long_one_in > 0 && id % c->long_one_in == 1)
        size = (size_t)(id * 7919 % KEY_BYTES_MAX) + 9;
    memset(out, 'x', size);
    for (size_t i = 0; i < 8; i++)
        out[size - 1 - i] = (uint8_t)(id >> 8 * i);
    return size;
}

static uint64_t hash_of(const stream_case *c, const uint8_t *key, size_t size)
{
    uint64_t sum = size;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ key[i]) * UINT64_C(0x100000001b3);
    random_source r = {sum};
    uint64_t hash = random_next(&r);
    return ksv_hash_truncate(hash, c->hash_bits);
}

typedef struct offers {
    offered_key keys[EXACT_KEYS_BATCH];
    uint64_t ids[EXACT_KEYS_BATCH];
    uint8_t *bytes;
    bool fresh[EXACT_KEYS_BATCH];
} offers;

static void make_batch(const stream_case *c, random_source *r, offers *o,
                       size_t count, int64_t *now)
{
    uint8_t *next = o->bytes;
    for (size_t i = 0; i < count; i++) {
        /* Often one of few, seldom one of all. */
        uint64_t range = random_below(r, 3) == 0 ? c->ids / 50 + 1 : c->ids;
        o->ids[i] = random_below(r, range);
        size_t size = make_key(c, o->ids[i], next);
        if (c->window_ms > 0)
            *now += (int64_t)random_below(r, (uint64_t)c->step_ms + 1);
        if (c->window_ms > 0 && random_below(r, 3000) == 0)
            *now += (int64_t)random_below(r, (uint64_t)c->window_ms * 2);
        o->keys[i] = (offered_key){next, size, hash_of(c, next, size), *now};
        next += size;
    }
}

static void check_batch(const stream_case *c, const offers *o, size_t count,
                        int64_t *passed)
{
    for (size_t i = 0; i < count; i++) {
        int64_t *last = &passed[o->ids[i]];
        int64_t now = o->keys[i].time_ms;
        bool fresh =
            *last == NEVER || (c->window_ms > 0 && now - *last >= c->window_ms);
        if (fresh != o->fresh[i])
            fail_msg("seed %llu: id %llu at %lld, passed last at %lld, was "
                     "told %s",
                     (unsigned long long)c->seed, (unsigned long long)o->ids[i],
                     (long long)now, (long long)*last,
                     o->fresh[i] ? "fresh" : "seen");
        if (fresh)
            *last = now;
    }
}

static void run_stream(const stream_case *c, exact_keys *exact)
{
    random_source r = {c->seed};
    int64_t *passed = malloc(c->ids * sizeof *passed);
    offers *o = malloc(sizeof *o);
    o->bytes = malloc((size_t)EXACT_KEYS_BATCH * (KEY_BYTES_MAX + 16));
    for (uint64_t i = 0; i < c->ids; i++)
        passed[i] = NEVER;
    int64_t now = c->window_ms > 0 ? -5000 : 0;
    for (uint64_t done = 0; done < c->offers;) {
        size_t count = 1 + (size_t)random_below(&r, EXACT_KEYS_BATCH);
        ksv_error error;
        make_batch(c, &r, o, count, &now);
        if (exact_keys_decide(exact, o->keys, count, o->fresh, &error) !=
            KSV_OK)
            fail_msg("seed %llu: %s", (unsigned long long)c->seed, error.text);
        check_batch(c, o, count, passed);
        done += count;
    }
    free(o->bytes);
    free(o);
    free(passed);
}

static void check_stream(const stream_case *c, uint64_t runs_at_least)
{
    ksv_file_system fs;
    fault_allocator allocator;
    exact_keys *exact;
    uint64_t next_number = 1;
    run_set_cost cost;
    fault_allocator_init(&allocator, 0);
    assert_int_equal(memory_file_system_open(NULL, &fs, NULL), KSV_OK);
    assert_int_equal(fs.make_directory(fs.ctx, "/d", NULL), KSV_OK);
    run_set_options options = {
        .fs = &fs,
        .directory = "/d",
        .memory_bytes = c->memory_bytes,
        .window_ms = c->window_ms,
        .slice_ms = c->slice_ms,
        .next_number = &next_number,
        .hasher = {.kind = KSV_HASH_XXH3},
        .allocator = &allocator.allocator,
    };
    assert_int_equal(exact_keys_open(&options, &exact, NULL), KSV_OK);
    run_stream(c, exact);
    run_set_get_cost(exact_keys_runs(exact), &cost);
    assert_true(cost.runs_written >= runs_at_least);
    exact_keys_close(exact);
    assert_true(fault_allocator_is_clean(&allocator));
    memory_file_system_close(&fs);
}

static void test_spilled(void **state)
{
    (void)state;
    stream_case c = {.seed = 1,
                     .ids = 60000,
                     .hash_bits = 64,
                     .offers = 120000,
                     .memory_bytes = 1 << 20};
    check_stream(&c, 8);
}

/* Filters so small that there are none: all is asked on disk. */
static void test_without_filters(void **state)
{
    (void)state;
    stream_case c = {.seed = 2,
                     .ids = 8000,
                     .hash_bits = 64,
                     .offers = 30000,
                     .memory_bytes = 1};
    check_stream(&c, 8);
}

static void test_long_keys(void **state)
{
    (void)state;
    stream_case c = {.seed = 3,
                     .ids = 3000,
                     .hash_bits = 64,
                     .long_one_in = 10,
                     .offers = 12000,
                     .memory_bytes = 1 << 16};
    check_stream(&c, 2);
}

/* Hashes of 8 bits: hundreds of keys have each of them, and runs of equal ones
 * go over many pages. */
static void test_collisions(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 12; bits += 5) {
        stream_case c = {.seed = 4 + bits,
                         .ids = 4000,
                         .hash_bits = bits,
                         .long_one_in = 100,
                         .offers = 12000,
                         .memory_bytes = 1 << 18};
        check_stream(&c, 1);
    }
}

static void test_windows(void **state)
{
    (void)state;
    for (uint64_t seed = 20; seed < 20 + PACE_ROUNDS(6); seed++) {
        stream_case c = {.seed = seed,
                         .ids = seed % 2 == 0 ? 5000 : 40000,
                         .hash_bits = seed % 3 == 0 ? 10 : 64,
                         .window_ms = 20000,
                         .slice_ms = 2500,
                         .step_ms = (int64_t)(seed % 4),
                         .offers = 60000,
                         .memory_bytes = seed % 2 == 0 ? 1 << 14 : 1 << 20};
        check_stream(&c, 1);
    }
}

/* ---- Approximate ---- */

typedef struct filter_case {
    uint64_t seed;
    uint64_t ids;
    int64_t window_ms;
    unsigned slices;
    uint64_t expected_keys;
    int64_t step_ms;
    uint64_t offers;
} filter_case;

/* No id is fresh twice within a window; those that are fresh are told so but
 * for few; none is kept longer than the window and a slice of it. */
static void check_filters(const filter_case *c)
{
    enum { BATCH = GENERATIONS_BATCH };
    random_source r = {c->seed};
    generations *g;
    generations_options options = {.window_ms = c->window_ms,
                                   .slices = c->slices,
                                   .expected_keys = c->expected_keys,
                                   .fpr = 0.001};
    window_item *items = malloc(BATCH * sizeof *items);
    uint64_t *ids = malloc(BATCH * sizeof *ids);
    int64_t *passed = malloc(c->ids * sizeof *passed);
    bool fresh[BATCH];
    int64_t now = 1000;
    int64_t most_kept = c->window_ms + c->window_ms / c->slices + 1;
    uint64_t wrong = 0;
    uint64_t fresh_ones = 0;
    for (uint64_t i = 0; i < c->ids; i++)
        passed[i] = NEVER;
    assert_int_equal(generations_open(&options, &g, NULL), KSV_OK);
    for (uint64_t done = 0; done < c->offers;) {
        size_t count = 1 + (size_t)random_below(&r, BATCH);
        for (size_t i = 0; i < count; i++) {
            ids[i] = random_below(&r, c->ids);
            random_source h = {c->seed * 1000003 + ids[i]};
            now += (int64_t)random_below(&r, (uint64_t)c->step_ms + 1);
            if (random_below(&r, 4000) == 0)
                now += (int64_t)random_below(&r, (uint64_t)c->window_ms + 1);
            items[i] = (window_item){random_next(&h), now};
        }
        assert_int_equal(generations_decide(g, items, count, fresh, NULL),
                         KSV_OK);
        for (size_t i = 0; i < count; i++) {
            int64_t *last = &passed[ids[i]];
            int64_t age = *last == NEVER ? INT64_MAX : items[i].time_ms - *last;
            if (age < c->window_ms || (c->window_ms == 0 && *last != NEVER))
                assert_false(fresh[i]);
            else if (age > most_kept || c->window_ms == 0) {
                fresh_ones++;
                wrong += !fresh[i];
            }
            if (fresh[i])
                *last = items[i].time_ms;
        }
        done += count;
    }
    assert_true(fresh_ones > 100);
    assert_true(wrong <= 10 + fresh_ones / 100);
    assert_true(generations_count(g) <= c->slices + 1 + (c->slices + 3) / 4);
    generations_close(g);
    free(items);
    free(ids);
    free(passed);
}

static void test_filters(void **state)
{
    (void)state;
    filter_case plain = {.seed = 41,
                         .ids = 60000,
                         .slices = 1,
                         .expected_keys = 60000,
                         .offers = 150000};
    check_filters(&plain);
    for (uint64_t seed = 50; seed < 56; seed++) {
        filter_case c = {.seed = seed,
                         .ids = 30000,
                         .window_ms = 8000,
                         .slices = 1 + (unsigned)(seed % 9),
                         .expected_keys = 8000,
                         .step_ms = 2,
                         .offers = 150000};
        check_filters(&c);
    }
}

/* Ten times as many keys as expected: the rate suffers, nothing else. */
static void test_burst(void **state)
{
    (void)state;
    generations *g;
    generations_options options = {
        .window_ms = 80000, .slices = 8, .expected_keys = 4000, .fpr = 0.001};
    assert_int_equal(generations_open(&options, &g, NULL), KSV_OK);
    window_item items[100];
    bool fresh[100];
    random_source r = {7};
    uint64_t all = 40000;
    uint64_t *hashes = malloc(all * sizeof *hashes);
    for (uint64_t at = 0; at < all; at += 100) {
        for (size_t i = 0; i < 100; i++) {
            hashes[at + i] = random_next(&r);
            items[i] = (window_item){hashes[at + i], (int64_t)at / 10};
        }
        assert_int_equal(generations_decide(g, items, 100, fresh, NULL),
                         KSV_OK);
    }
    assert_int_equal(generations_count(g), 8 + 1 + 2);
    assert_true(generations_worst_rate(g) > 0.001);
    for (uint64_t at = 0; at < all; at += 100) {
        for (size_t i = 0; i < 100; i++)
            items[i] = (window_item){hashes[at + i], 75000};
        assert_int_equal(generations_decide(g, items, 100, fresh, NULL),
                         KSV_OK);
        for (size_t i = 0; i < 100; i++)
            assert_false(fresh[i]);
    }
    free(hashes);
    generations_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spilled),
        cmocka_unit_test(test_without_filters),
        cmocka_unit_test(test_long_keys),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_burst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
