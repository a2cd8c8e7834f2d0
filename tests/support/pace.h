/* SPDX-License-Identifier: MIT */
/* How many steps of a long row of damages are taken. */
#ifndef KSV_TESTS_SUPPORT_PACE_H
#define KSV_TESTS_SUPPORT_PACE_H

/* Every step in an ordinary build. Under a sanitizer, where each is many times
 * as dear, one in so many: an odd prime, so that all bits of bytes and all
 * places in words have their turn. */
#if defined(__SANITIZE_THREAD__)
#define PACE_STEP 31
#elif defined(__SANITIZE_ADDRESS__)
#define PACE_STEP 3
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PACE_STEP 31
#elif __has_feature(address_sanitizer)
#define PACE_STEP 3
#endif
#endif
#ifndef PACE_STEP
#define PACE_STEP 1
#endif

/* How many of so many rounds with random data are made, at least 1. */
#define PACE_ROUNDS(rounds)               \
    (PACE_STEP == 1  ? (rounds)           \
     : PACE_STEP > 3 ? ((rounds) + 3) / 4 \
                     : ((rounds) + 1) / 2)

#endif
