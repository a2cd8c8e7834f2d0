/* SPDX-License-Identifier: MIT */
/* The little mathematics of rates, the same on every host and without libm. */
#ifndef KSV_FILTER_FILTER_MATH_H
#define KSV_FILTER_FILTER_MATH_H

#include <stdint.h>

static inline double math_power(double base, uint64_t exponent)
{
    double result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0)
            result *= base;
        base *= base;
    }
    return result;
}

/* e to the power of -`y`, for `y` >= 0: a series where it converges fast, then
 * squared ten times. */
static inline double math_exp_minus(double y)
{
    if (!(y < 700))
        return 0;
    double x = -y / 1024;
    double term = 1;
    double sum = 1;
    for (int i = 1; i <= 16; i++) {
        term *= x / i;
        sum += term;
    }
    return math_power(sum, 1024);
}

/* The `y` >= 0 for which e to the power of -`y` is `part`, 0 < `part` <= 1. */
static inline double math_minus_log(double part)
{
    double low = 0;
    double high = 700;
    for (int i = 0; i < 64; i++) {
        double middle = low + (high - low) / 2;
        if (math_exp_minus(middle) > part)
            low = middle;
        else
            high = middle;
    }
    return high;
}

#endif
