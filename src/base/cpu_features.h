/* SPDX-License-Identifier: MIT */
/* What the processor can do beyond portable code. */
#ifndef KSV_BASE_CPU_FEATURES_H
#define KSV_BASE_CPU_FEATURES_H

#include <stdbool.h>

/* Defined where versions of functions for a kind of processor are compiled:
 * their files hold nothing elsewhere. */
#if !defined(KSV_SCALAR) && defined(__GNUC__) && defined(__x86_64__)
#define KSV_HAVE_AVX2 1
#define KSV_TARGET_AVX2 __attribute__((target("avx2")))
/* With the operations on bits in whole registers that came with it. */
#define KSV_TARGET_AVX2_BITS \
    __attribute__((target("avx2,bmi,popcnt,pclmul,sse4.2")))
#define KSV_HAVE_AVX512 1
#define KSV_TARGET_AVX512_BITS \
    __attribute__((target("avx512f,avx512bw,avx2,bmi,popcnt,pclmul,sse4.2")))
#endif
#if !defined(KSV_SCALAR) && defined(__GNUC__) && defined(__aarch64__) && \
    defined(__ARM_NEON) && defined(__LITTLE_ENDIAN__)
#define KSV_HAVE_NEON 1
#endif

/* Whether such versions exist and this processor runs them. Thread-safe. */
bool cpu_has_avx2(void);
bool cpu_has_avx2_bits(void);
bool cpu_has_avx512_bits(void); /* AVX-512 F and BW */

#endif
