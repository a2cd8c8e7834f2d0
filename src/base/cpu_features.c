/* SPDX-License-Identifier: MIT */
/* What the processor can do beyond portable code. */
#include "base/cpu_features.h"

#ifdef KSV_HAVE_AVX2

bool cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

bool cpu_has_avx2_bits(void)
{
    return cpu_has_avx2() && __builtin_cpu_supports("bmi") != 0 &&
           __builtin_cpu_supports("popcnt") != 0 &&
           __builtin_cpu_supports("pclmul") != 0;
}

bool cpu_has_avx512_bits(void)
{
    return cpu_has_avx2_bits() && __builtin_cpu_supports("avx512f") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0;
}

#else

bool cpu_has_avx2(void)
{
    return false;
}

bool cpu_has_avx2_bits(void)
{
    return false;
}

bool cpu_has_avx512_bits(void)
{
    return false;
}

#endif
