/* SPDX-License-Identifier: MIT */
/* The false-positive rate of a blocked Bloom filter: the mean over the load of
 * a block, computed with nothing but additions and multiplications. */
#include "filter/filter_rate.h"

#include <stdbool.h>

#include "filter/bloom_block.h"
#include "filter/filter_math.h"

/* Blocks so full answer "maybe" to everything. */
#define MAX_MEAN_KEYS 32768.0

/* Terms smaller than this part of the sum do not change a double. */
#define NEGLIGIBLE 1e-18

#define BITS ((double)BLOOM_BLOCK_BITS)

filter_load filter_load_binomial(uint64_t keys, uint64_t blocks)
{
    double others = (double)blocks - 1;
    filter_load load = {(double)keys / (double)blocks, 0, 0, keys};
    if (others > 0) {
        load.rise = (double)keys / others;
        load.fall = 1 / others;
    }
    return load;
}

filter_load filter_load_poisson(double mean)
{
    return (filter_load){mean, mean, 0, UINT64_MAX};
}

filter_load filter_load_of(uint64_t keys, uint64_t blocks)
{
    if (keys <= FILTER_BINOMIAL_KEYS)
        return filter_load_binomial(keys, blocks);
    return filter_load_poisson((double)keys / (double)blocks);
}

/* What a block that holds some number of keys answers: the probabilities that
 * one given bit and that two given bits are clear, and their factors a key. */
typedef struct block_state {
    unsigned functions;
    double clear;
    double both_clear;
    double clear_step;
    double both_clear_step;
} block_state;

static block_state block_with_keys(uint64_t keys, unsigned functions)
{
    block_state s = {functions};
    s.clear_step = math_power((BITS - 1) / BITS, functions);
    s.both_clear_step = math_power((BITS - 2) / BITS, functions);
    s.clear = math_power(s.clear_step, keys);
    s.both_clear = math_power(s.both_clear_step, keys);
    return s;
}

static void block_add_key(block_state *s)
{
    s->clear *= s->clear_step;
    s->both_clear *= s->both_clear_step;
}

static void block_remove_key(block_state *s)
{
    s->clear /= s->clear_step;
    s->both_clear /= s->both_clear_step;
}

/* The mean of the k-th power of the part of bits that is set. Taking the k-th
 * power of the mean instead gives rates that are too low, by 1 % for k = 6 and
 * 4 % for k = 12: the variance of that part makes up for it. */
static double block_rate(const block_state *s)
{
    double set = 1 - s->clear;
    if (set <= 0)
        return 0;
    double variance =
        (s->clear + (BITS - 1) * s->both_clear) / BITS - s->clear * s->clear;
    double pairs = s->functions * (s->functions - 1) / 2.0;
    double rate = math_power(set, s->functions);
    if (variance > 0)
        rate *= 1 + pairs * variance / (set * set);
    return rate < 1 ? rate : 1;
}

/* Weights are relative to the term where the sum begins, so that none of them
 * is too small for a double. */
typedef struct load_sum {
    double weights;
    double rates;
} load_sum;

static bool sum_add(load_sum *sum, double weight, const block_state *s)
{
    sum->weights += weight;
    sum->rates += weight * block_rate(s);
    /* A term adds at most its weight to either. */
    return weight > NEGLIGIBLE * sum->rates ||
           weight > NEGLIGIBLE * sum->weights;
}

static void sum_upwards(load_sum *sum, const filter_load *load, uint64_t keys,
                        unsigned functions)
{
    block_state s = block_with_keys(keys, functions);
    double weight = 1;
    while (keys < load->max_keys) {
        weight *= (load->rise - load->fall * (double)keys) / (double)(keys + 1);
        keys++;
        block_add_key(&s);
        if (weight <= 0 || !sum_add(sum, weight, &s))
            return;
    }
}

static void sum_downwards(load_sum *sum, const filter_load *load, uint64_t keys,
                          unsigned functions)
{
    block_state s = block_with_keys(keys, functions);
    double weight = 1;
    while (keys > 0) {
        keys--;
        weight *= (double)(keys + 1) / (load->rise - load->fall * (double)keys);
        block_remove_key(&s);
        if (!sum_add(sum, weight, &s))
            return;
    }
}

double filter_load_rate(const filter_load *load, unsigned functions)
{
    if (load->mean <= 0)
        return 0;
    if (load->mean > MAX_MEAN_KEYS)
        return 1;
    uint64_t middle = (uint64_t)load->mean;
    block_state s = block_with_keys(middle, functions);
    load_sum sum = {0, 0};
    sum_add(&sum, 1, &s);
    sum_upwards(&sum, load, middle, functions);
    if (load->rise > 0)
        sum_downwards(&sum, load, middle, functions);
    return sum.rates / sum.weights;
}

double filter_load_best_rate(const filter_load *load, unsigned *functions)
{
    double best = filter_load_rate(load, *functions);
    unsigned start = *functions;
    while (*functions < BLOOM_MAX_FUNCTIONS) {
        double rate = filter_load_rate(load, *functions + 1);
        if (rate >= best)
            break;
        best = rate;
        ++*functions;
    }
    if (*functions > start)
        return best;
    while (*functions > 1) {
        double rate = filter_load_rate(load, *functions - 1);
        /* Where all rates round to 1, fewer functions tell more. */
        if (rate > best)
            break;
        best = rate;
        --*functions;
    }
    return best;
}
