/* SPDX-License-Identifier: MIT */
/* Textbook filters' shapes and rates; what follows from shapes of any kind. */
#include "filter/filter_geometry.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "filter/bloom_classic.h"
#include "filter/filter_format.h"
#include "filter/filter_math.h"
#include "hash/hash.h"

/* Above, the spread of the number of bits that are set changes no rate that
 * could be measured, and its computation would lose all digits. */
#define SPREAD_BITS ((uint64_t)1 << 20)

/* More keys than any filter holds; keeps products within 64 bits. */
#define MOST_KEYS ((uint64_t)1 << 57)

/* The probability that `taken` given bits (1 or 2) are all clear. */
static double part_clear(uint64_t bits, unsigned taken, uint64_t probes)
{
    if (bits <= taken)
        return probes == 0 ? 1 : 0;
    double part = (double)taken / (double)bits;
    if (bits <= SPREAD_BITS)
        return math_power(1 - part, probes);
    return math_exp_minus(part * (1 + part / 2) * (double)probes);
}

double filter_classic_rate(uint64_t bits, unsigned functions, uint64_t keys)
{
    if (keys == 0)
        return 0;
    if (bits == 0 || functions == 0 || keys > MOST_KEYS)
        return 1;
    uint64_t probes = keys * functions;
    double clear = part_clear(bits, 1, probes);
    double set = 1 - clear;
    if (set <= 0)
        return 0;
    double rate = math_power(set, functions);
    if (bits <= SPREAD_BITS) {
        double both = part_clear(bits, 2, probes);
        double variance =
            (clear + (double)(bits - 1) * both) / (double)bits - clear * clear;
        double pairs = functions * (functions - 1) / 2.0;
        if (variance > 0)
            rate *= 1 + pairs * variance / (set * set);
    }
    return rate < 1 ? rate : 1;
}

ksv_status ksv_filter_make_classic_plan(uint64_t bits, unsigned hash_functions,
                                        uint64_t keys, ksv_filter_plan *plan,
                                        ksv_error *error)
{
    *plan = (ksv_filter_plan){0};
    if (bits == 0 || bits > FILTER_MAX_BLOCKS * BLOOM_BLOCK_BITS)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a filter has 1 to 2^60 bits, not %llu",
                         (unsigned long long)bits);
    if (hash_functions == 0 || hash_functions > CLASSIC_MAX_FUNCTIONS)
        return error_set(error, KSV_ERROR_ARGUMENT, NULL,
                         "a textbook filter has 1 to %d hash functions, not %u",
                         CLASSIC_MAX_FUNCTIONS, hash_functions);
    plan->kind = KSV_FILTER_CLASSIC;
    plan->blocks = (bits - 1) / BLOOM_BLOCK_BITS + 1;
    plan->bits = bits;
    plan->hash_functions = hash_functions;
    plan->file_bytes = filter_layout_of(plan->blocks).file_bytes;
    plan->fpr = ksv_filter_plan_expected_fpr(plan, keys, 64);
    return KSV_OK;
}

double ksv_filter_plan_expected_fpr(const ksv_filter_plan *plan, uint64_t keys,
                                    unsigned hash_bits)
{
    if (plan->kind == KSV_FILTER_BLOCKED)
        return ksv_filter_expected_fpr(plan->blocks, plan->hash_functions, keys,
                                       hash_bits);
    double hashes = math_power(2, hash_bits);
    double collisions = (double)keys < hashes ? (double)keys / hashes : 1;
    double rate = filter_classic_rate(plan->bits, plan->hash_functions, keys);
    return collisions + (1 - collisions) * rate;
}

uint64_t ksv_filter_plan_capacity(const ksv_filter_plan *plan, double fpr,
                                  unsigned hash_bits)
{
    uint64_t low = 0;
    for (uint64_t step = MOST_KEYS; step > 0; step /= 2) {
        if (ksv_filter_plan_expected_fpr(plan, low + step, hash_bits) <= fpr)
            low += step;
    }
    return low;
}

uint64_t filter_keys_of_bits(const ksv_filter_plan *plan, uint64_t set_bits)
{
    if (set_bits >= plan->bits)
        return UINT64_MAX;
    double clear = (double)(plan->bits - set_bits) / (double)plan->bits;
    double load = math_minus_log(clear);
    double a_key;
    if (plan->kind == KSV_FILTER_CLASSIC) {
        a_key = (double)plan->hash_functions / (double)plan->bits;
    } else {
        double kept =
            math_power(1 - 1.0 / BLOOM_BLOCK_BITS, plan->hash_functions);
        a_key = (1 - kept) / (double)plan->blocks;
    }
    return (uint64_t)(load / a_key + 0.5);
}

bool filter_same_geometry(const ksv_filter_options *a,
                          const ksv_filter_options *b)
{
    return a->plan.kind == b->plan.kind && a->plan.bits == b->plan.bits &&
           a->plan.hash_functions == b->plan.hash_functions &&
           a->hash_bits == b->hash_bits &&
           hash_same_hasher(&a->hasher, &b->hasher);
}

void filter_describe(const ksv_filter_options *options,
                     char text[FILTER_GEOMETRY_BYTES])
{
    const ksv_filter_plan *plan = &options->plan;
    const ksv_hasher *hasher = &options->hasher;
    /* The key may be a secret: it is only told from others. */
    uint32_t key = hash_checksum32(hasher->key, sizeof hasher->key);
    snprintf(text, FILTER_GEOMETRY_BYTES,
             "%s, %llu bits, %u hash function%s, %u bits of %s (key %08x)",
             plan->kind == KSV_FILTER_CLASSIC ? "classic" : "blocked",
             (unsigned long long)plan->bits, plan->hash_functions,
             plan->hash_functions == 1 ? "" : "s", options->hash_bits,
             hasher->kind == KSV_HASH_SIPHASH ? "SipHash" : "XXH3",
             (unsigned)key);
}
