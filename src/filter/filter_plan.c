/* SPDX-License-Identifier: MIT */
/* The smallest filter for a number of keys and a false-positive rate. */
#include <keysieve/filter.h>

#include <stdbool.h>

#include "base/error.h"
#include "filter/bloom_block.h"
#include "filter/filter_format.h"
#include "filter/filter_rate.h"

/* Where the search for the number of hash functions begins. */
#define USUAL_FUNCTIONS 6

/* The part of the asked rate that is always left to the filter itself, however
 * often hashes collide: it keeps sizes finite and never falling. */
#define LEAST_SHARE 0.25

/* A filter of the largest size with one key more than binomial ones have. */
#define LEAST_MEAN_EXPONENT (-36)
#define MOST_MEAN 32768.0
#define MEAN_STEPS 40

/* The probability that an absent key has the hash of one that is present. */
static double collision_rate(uint64_t keys, unsigned hash_bits)
{
    double hashes = 1;
    for (unsigned i = 0; i < hash_bits; i++)
        hashes *= 2;
    double rate = (double)keys / hashes;
    return rate < 1 ? rate : 1;
}

static double filter_share(uint64_t keys, double fpr, unsigned hash_bits)
{
    double rest = fpr - collision_rate(keys, hash_bits);
    double least = fpr * LEAST_SHARE;
    return rest > least ? rest : least;
}

/* Both searches visit the same points in the same order whatever is asked, as
 * far as they go: a smaller rate can never end at a larger load, even where
 * rounding blurs the rates. */

static bool blocks_suffice(uint64_t keys, uint64_t blocks, double fpr,
                           unsigned *functions)
{
    filter_load load = filter_load_binomial(keys, blocks);
    return filter_load_best_rate(&load, functions) <= fpr;
}

/* The fewest blocks for a small number of keys; 0 when none suffice. */
static uint64_t search_blocks(uint64_t keys, double fpr)
{
    unsigned functions = USUAL_FUNCTIONS;
    uint64_t enough = 1;
    while (!blocks_suffice(keys, enough, fpr, &functions)) {
        if (enough > FILTER_MAX_BLOCKS / 2)
            return 0;
        enough *= 2;
    }
    uint64_t too_few = enough / 2;
    while (enough - too_few > 1) {
        uint64_t middle = too_few + (enough - too_few) / 2;
        if (blocks_suffice(keys, middle, fpr, &functions))
            enough = middle;
        else
            too_few = middle;
    }
    return enough;
}

static bool mean_suffices(double mean, double fpr, unsigned *functions)
{
    filter_load load = filter_load_poisson(mean);
    return filter_load_best_rate(&load, functions) <= fpr;
}

/* The most keys a block that large filters may have; 0 when none will do. */
static double search_mean(double fpr)
{
    unsigned functions = 1;
    double low = MOST_MEAN;
    int exponent = 15;
    while (!mean_suffices(low, fpr, &functions)) {
        if (--exponent < LEAST_MEAN_EXPONENT)
            return 0;
        low /= 2;
    }
    double step = low;
    for (int i = 0; i < MEAN_STEPS; i++) {
        step /= 2;
        if (mean_suffices(low + step, fpr, &functions))
            low += step;
    }
    return low;
}

static uint64_t round_up(double value)
{
    uint64_t whole = (uint64_t)value;
    return (double)whole < value ? whole + 1 : whole;
}

static uint64_t large_blocks(uint64_t keys, double fpr)
{
    double mean = search_mean(fpr);
    if (mean <= 0)
        return 0;
    double blocks = (double)keys / mean;
    if (blocks > (double)FILTER_MAX_BLOCKS)
        return 0;
    return blocks > 1 ? round_up(blocks) : 1;
}

ksv_status ksv_filter_make_plan(uint64_t keys, double fpr, unsigned hash_bits,
                                ksv_filter_plan *plan, ksv_error *error)
{
    *plan = (ksv_filter_plan){0};
    if (!(fpr > 0 && fpr < 1))
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "false-positive rate %g is not between 0 and 1", fpr);
    if (!filter_hash_bits_valid(hash_bits))
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a filter takes hashes of 32 to 64 bits, not %u",
                         hash_bits);
    double share = filter_share(keys, fpr, hash_bits);
    uint64_t blocks = keys <= FILTER_BINOMIAL_KEYS ? search_blocks(keys, share)
                                                   : large_blocks(keys, share);
    if (blocks == 0)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "no filter of up to 2^57 bytes reaches the "
                         "false-positive rate %g with %llu keys",
                         fpr, (unsigned long long)keys);
    plan->blocks = blocks;
    plan->bits = blocks * BLOOM_BLOCK_BITS;
    plan->file_bytes = filter_layout_of(blocks).file_bytes;
    plan->hash_functions = USUAL_FUNCTIONS;
    filter_load load = filter_load_of(keys, blocks);
    filter_load_best_rate(&load, &plan->hash_functions);
    plan->fpr =
        ksv_filter_expected_fpr(blocks, plan->hash_functions, keys, hash_bits);
    return KSV_OK;
}

double ksv_filter_expected_fpr(uint64_t blocks, unsigned hash_functions,
                               uint64_t keys, unsigned hash_bits)
{
    if (keys == 0)
        return 0;
    if (blocks == 0 || hash_functions == 0)
        return 1;
    if (hash_functions > BLOOM_MAX_FUNCTIONS)
        hash_functions = BLOOM_MAX_FUNCTIONS;
    filter_load load = filter_load_of(keys, blocks);
    double probes = filter_load_rate(&load, hash_functions);
    double collisions = collision_rate(keys, hash_bits);
    return collisions + (1 - collisions) * probes;
}
