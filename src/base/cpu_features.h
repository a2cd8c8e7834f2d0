/* SPDX-License-Identifier: MIT */
/* What the processor can do beyond portable code. */
#ifndef KSV_BASE_CPU_FEATURES_H
#define KSV_BASE_CPU_FEATURES_H

#include <stdbool.h>

/* Defined where AVX2 versions of functions are compiled: their files hold
 * nothing elsewhere. */
#if !defined(KSV_SCALAR) && defined(__GNUC__) && defined(__x86_64__)
#define KSV_HAVE_AVX2 1
#define KSV_TARGET_AVX2 __attribute__((target("avx2")))
#endif

/* Whether AVX2 versions exist and this processor runs them. Thread-safe. */
bool cpu_has_avx2(void);

#endif
