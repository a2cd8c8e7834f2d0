/* SPDX-License-Identifier: MIT */
/* What the processor can do beyond portable code. */
#include "base/cpu_features.h"

bool cpu_has_avx2(void)
{
#ifdef KSV_HAVE_AVX2
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}
