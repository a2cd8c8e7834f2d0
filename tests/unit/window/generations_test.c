/* SPDX-License-Identifier: MIT */
/* Generations of filters: when they are closed and dropped, and the rate that
 * is to be expected of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/random.h"
#include "window/generations.h"

#define WINDOW_MS 8000
#define SLICES 8
#define EXPECTED 40000
#define FPR 0.001

static generations *open_with(int64_t window_ms)
{
    generations *g;
    generations_options options = {.window_ms = window_ms,
                                   .slices = SLICES,
                                   .expected_keys = EXPECTED,
                                   .fpr = FPR};
    assert_int_equal(generations_open(&options, &g, NULL), KSV_OK);
    return g;
}

/* The hash of a key that has a number. */
static uint64_t hash_of(uint64_t number)
{
    random_source r = {number * 1000003};
    return random_next(&r);
}

/* Offers key `number` at a time. */
static bool offer(generations *g, uint64_t number, int64_t time_ms)
{
    bool fresh;
    window_item item = {hash_of(number), time_ms};
    assert_int_equal(generations_decide(g, &item, 1, &fresh, NULL), KSV_OK);
    return fresh;
}

/* As many keys as were expected keep the rate, however they come: evenly over
 * many windows, all at once, or half of them at once. */
static void test_expected_keys_keep_the_rate(void **state)
{
    (void)state;
    generations *even = open_with(WINDOW_MS);
    generations *burst = open_with(WINDOW_MS);
    generations *half = open_with(WINDOW_MS);
    generations *plain = open_with(0);
    for (uint64_t i = 0; i < 3 * EXPECTED; i++)
        (void)offer(even, i, (int64_t)(i * WINDOW_MS / EXPECTED));
    for (uint64_t i = 0; i < EXPECTED; i++) {
        (void)offer(burst, i, 5);
        (void)offer(plain, i, 0);
        (void)offer(half, i,
                    i < EXPECTED / 2
                        ? 0
                        : (int64_t)(i * 2 - EXPECTED) * WINDOW_MS / EXPECTED);
    }
    assert_true(generations_worst_rate(even) <= FPR * 1.1);
    assert_true(generations_worst_rate(burst) <= FPR * 1.1);
    assert_true(generations_worst_rate(half) <= FPR * 1.1);
    assert_true(generations_worst_rate(plain) <= FPR * 1.1);
    assert_true(generations_worst_rate(even) >= FPR * 0.7);
    assert_true(generations_worst_rate(plain) >= FPR * 0.7);
    generations_close(even);
    generations_close(burst);
    generations_close(half);
    generations_close(plain);
}

static void test_more_keys_raise_the_rate(void **state)
{
    (void)state;
    generations *g = open_with(WINDOW_MS);
    for (uint64_t i = 0; i < 2 * EXPECTED; i++)
        (void)offer(g, i, 5);
    assert_true(generations_worst_rate(g) > FPR * 2);
    generations_close(g);
}

/* An even stream has a generation a slice and the open one; memory stays. */
static void test_even_rotation(void **state)
{
    (void)state;
    generations *g = open_with(WINDOW_MS);
    uint64_t most_bytes = 0;
    for (uint64_t i = 0; i < 4 * EXPECTED; i++) {
        (void)offer(g, i, (int64_t)(i * WINDOW_MS / EXPECTED));
        assert_true(generations_count(g) <= SLICES + 2);
        if (i == 2 * EXPECTED)
            most_bytes = generations_memory_bytes(g);
    }
    assert_true(generations_memory_bytes(g) <= most_bytes + most_bytes / 4);
    assert_true(generations_begun(g) >= 4 * SLICES - 1);
    assert_true(generations_begun(g) <= 4 * SLICES + 4);
    generations_close(g);
}

/* Bursts take more generations, up to a quarter more than a window has, and no
 * key is passed twice in a window for all that. */
static void test_burst_after_burst(void **state)
{
    (void)state;
    enum { BURSTS = 6 };
    generations *g = open_with(WINDOW_MS);
    bool *passed = calloc(BURSTS * EXPECTED, sizeof *passed);
    assert_non_null(passed);
    for (uint64_t burst = 0; burst < BURSTS; burst++) {
        int64_t at = (int64_t)burst * WINDOW_MS / 3;
        uint64_t first = burst * EXPECTED;
        for (uint64_t i = first; i < first + EXPECTED; i++)
            passed[i] = offer(g, i, at);
        assert_true(generations_count(g) <= SLICES + 1 + SLICES / 4);
        uint64_t oldest = burst > 2 ? first - 2 * EXPECTED : 0;
        for (uint64_t i = oldest; i < first + EXPECTED; i += 97)
            assert_false(passed[i] && offer(g, i, at));
    }
    free(passed);
    generations_close(g);
}

/* A generation goes when its newest key was passed a window ago: no earlier,
 * and no more than a slice later. */
static void test_when_keys_are_forgotten(void **state)
{
    (void)state;
    generations *g = open_with(WINDOW_MS);
    assert_true(offer(g, 1, 1000));
    assert_true(offer(g, 2, 1000 + WINDOW_MS / SLICES - 1));
    assert_int_equal(generations_count(g), 1);
    assert_false(offer(g, 1, 1000 + WINDOW_MS - 1));
    assert_true(offer(g, 1, 1000 + WINDOW_MS + WINDOW_MS / SLICES));
    generations_close(g);
}

/* What comes long after all else finds nothing left of it. */
static void test_silence(void **state)
{
    (void)state;
    generations *g = open_with(WINDOW_MS);
    for (uint64_t i = 0; i < EXPECTED; i++)
        (void)offer(g, i, (int64_t)(i * WINDOW_MS / EXPECTED));
    assert_true(offer(g, 0, INT64_MAX / 4));
    assert_int_equal(generations_count(g), 1);
    generations_close(g);
}

static void test_wrong_slices(void **state)
{
    (void)state;
    generations *g;
    for (unsigned slices = 0; slices < 40; slices += 33) {
        generations_options options = {
            .window_ms = 1, .slices = slices, .expected_keys = 1, .fpr = FPR};
        assert_int_equal(generations_open(&options, &g, NULL),
                         KSV_ERROR_ARGUMENT);
        assert_null(g);
    }
    generations_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expected_keys_keep_the_rate),
        cmocka_unit_test(test_more_keys_raise_the_rate),
        cmocka_unit_test(test_even_rotation),
        cmocka_unit_test(test_burst_after_burst),
        cmocka_unit_test(test_when_keys_are_forgotten),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_wrong_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
