/* SPDX-License-Identifier: MIT */
/* The false-positive rate of a blocked Bloom filter, before hash collisions. */
#ifndef KSV_FILTER_FILTER_RATE_H
#define KSV_FILTER_FILTER_RATE_H

#include <stdint.h>

/* Filters of up to so many keys are computed with the binomial distribution of
 * keys over blocks, larger ones with the Poisson distribution that it tends to
 * (and which gives a slightly higher rate). */
#define FILTER_BINOMIAL_KEYS 65536

/* How many keys a block holds, as a distribution whose terms follow from each
 * other: w(j + 1) = w(j) * (`rise` - `fall` * j) / (j + 1), ending at
 * `max_keys`. */
typedef struct filter_load {
    double mean;
    double rise;
    double fall;
    uint64_t max_keys;
} filter_load;

/* `keys` up to FILTER_BINOMIAL_KEYS over `blocks` > 0. */
filter_load filter_load_binomial(uint64_t keys, uint64_t blocks);

/* Many keys over many blocks, `mean` keys a block. */
filter_load filter_load_poisson(double mean);

/* The distribution of the two that serves for `keys`. */
filter_load filter_load_of(uint64_t keys, uint64_t blocks);

/* The rate of a filter so loaded with `functions` (1..16) hash functions. */
double filter_load_rate(const filter_load *load, unsigned functions);

/* The lowest rate that a number of hash functions gives, and that number. The
 * search begins at `*functions` and leaves the best there. */
double filter_load_best_rate(const filter_load *load, unsigned *functions);

#endif
