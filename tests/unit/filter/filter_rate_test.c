/* SPDX-License-Identifier: MIT */
/* The computed rates against rates worked out the long way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "filter/filter_rate.h"

#define BITS 512
#define MOST_KEYS 300

/* For each number of keys in a block the mean k-th power of the part of set
 * bits, from the exact distribution of the number of set bits. */
static void exact_block_rates(unsigned k, double rates[MOST_KEYS + 1])
{
    static double chance[BITS + 1];
    memset(chance, 0, sizeof chance);
    chance[0] = 1;
    for (unsigned keys = 0; keys <= MOST_KEYS; keys++) {
        rates[keys] = 0;
        for (unsigned set = 0; set <= BITS; set++)
            rates[keys] += chance[set] * pow(set / (double)BITS, k);
        for (unsigned i = 0; i < k; i++) {
            for (unsigned set = BITS; set > 0; set--)
                chance[set] = chance[set] * set / BITS +
                              chance[set - 1] * (BITS - set + 1) / BITS;
            chance[0] = 0;
        }
    }
}

static double poisson(double mean, unsigned j)
{
    return exp(j * log(mean) - mean - lgamma(j + 1.0));
}

static double binomial(double n, double p, unsigned j)
{
    if (j > n)
        return 0;
    double logarithm = lgamma(n + 1) - lgamma(j + 1.0) - lgamma(n - j + 1);
    if (p >= 1)
        return j == n ? 1 : 0;
    return exp(logarithm + j * log(p) + (n - j) * log1p(-p));
}

static void assert_close(double got, double wanted, double tolerance)
{
    if (fabs(got - wanted) > tolerance * wanted)
        fail_msg("%.9g instead of %.9g", got, wanted);
}

static const unsigned FUNCTIONS[] = {1, 2, 6, 7, 9, 12, 16};
#define FUNCTION_COUNT (sizeof FUNCTIONS / sizeof FUNCTIONS[0])

static void test_poisson_rates(void **state)
{
    (void)state;
    static const double means[] = {0.001, 0.5, 6, 23.3, 44.5, 61.5, 150};
    static double rates[MOST_KEYS + 1];
    for (size_t f = 0; f < FUNCTION_COUNT; f++) {
        exact_block_rates(FUNCTIONS[f], rates);
        for (size_t m = 0; m < sizeof means / sizeof means[0]; m++) {
            double wanted = 0;
            for (unsigned j = 0; j <= MOST_KEYS; j++)
                wanted += poisson(means[m], j) * rates[j];
            filter_load load = filter_load_poisson(means[m]);
            /* A block with one key or two and many functions is the worst
             * case of the approximation, and of no importance. */
            double tolerance = means[m] < 1 ? 0.05 : 0.005;
            assert_close(filter_load_rate(&load, FUNCTIONS[f]), wanted,
                         tolerance);
        }
    }
}

static void test_binomial_rates(void **state)
{
    (void)state;
    static const struct {
        uint64_t keys, blocks;
    } cases[] = {{1, 1},     {2, 1},      {10, 1},      {100, 1},
                 {100, 2},   {100, 3},    {250, 1},     {250, 2},
                 {1000, 20}, {5000, 200}, {60000, 1400}};
    static double rates[MOST_KEYS + 1];
    for (size_t f = 0; f < FUNCTION_COUNT; f++) {
        exact_block_rates(FUNCTIONS[f], rates);
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            double n = (double)cases[c].keys;
            double wanted = 0;
            for (unsigned j = 0; j <= MOST_KEYS; j++)
                wanted +=
                    binomial(n, 1 / (double)cases[c].blocks, j) * rates[j];
            filter_load load = filter_load_of(cases[c].keys, cases[c].blocks);
            assert_close(filter_load_rate(&load, FUNCTIONS[f]), wanted,
                         n / (double)cases[c].blocks < 10 ? 0.05 : 0.005);
        }
    }
}

static void test_extremes(void **state)
{
    (void)state;
    filter_load none = filter_load_of(0, 1);
    assert_true(filter_load_rate(&none, 7) == 0);
    filter_load crowded = filter_load_of(UINT64_MAX, 1);
    assert_true(filter_load_rate(&crowded, 7) == 1);
    filter_load full = filter_load_of(20000, 1);
    assert_close(filter_load_rate(&full, 16), 1, 1e-12);
    filter_load sparse = filter_load_of(UINT64_C(1) << 50, UINT64_C(1) << 51);
    assert_true(filter_load_rate(&sparse, 16) > 0);
    assert_true(filter_load_rate(&sparse, 16) < 1e-9);
}

static void test_best_number_of_functions(void **state)
{
    (void)state;
    for (double mean = 0.01; mean < 3000; mean *= 1.3) {
        filter_load load = filter_load_poisson(mean);
        double lowest = 2;
        for (unsigned k = 1; k <= 16; k++)
            lowest = fmin(lowest, filter_load_rate(&load, k));
        for (unsigned start = 1; start <= 16; start += 5) {
            unsigned functions = start;
            assert_true(filter_load_best_rate(&load, &functions) == lowest);
            assert_true(filter_load_rate(&load, functions) == lowest);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poisson_rates),
        cmocka_unit_test(test_binomial_rates),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_best_number_of_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
