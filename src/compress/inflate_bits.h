/* SPDX-License-Identifier: MIT */
/* The bits that an inflater has read ahead, where its steps end. */
#ifndef KSV_COMPRESS_INFLATE_BITS_H
#define KSV_COMPRESS_INFLATE_BITS_H

#include "compress/inflate.h"

/* So far past its end may the last input be read before it is certain that the
 * stream is truncated: more than the bits that can be read ahead. */
#define INFLATE_LAST_OVERRUN 8

static inline inflate_stop inflate_corrupt(inflater *s, const char *problem)
{
    s->problem = problem;
    return INFLATE_CORRUPT;
}

/* Whole bytes that were read ahead go back to the input. */
static inline void inflate_settle(inflater *s)
{
    s->in_next -= s->bit_count >> 3;
    s->bit_count &= 7;
    s->bits &= ((uint64_t)1 << s->bit_count) - 1;
}

/* What went wrong once bits past the end of the last input were used. */
static inline bool inflate_is_truncated(const inflater *s)
{
    return s->in_next - (s->bit_count >> 3) > s->in_end;
}

#endif
