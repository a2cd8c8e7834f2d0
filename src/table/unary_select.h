/* SPDX-License-Identifier: MIT */
/* Finds a zero by its number in a string of bits. */
#ifndef KSV_TABLE_UNARY_SELECT_H
#define KSV_TABLE_UNARY_SELECT_H

#include <stddef.h>
#include <stdint.h>

/* The bit behind zero number `rank` - 1 (from 0) of the `size_bits` bits at
 * `data`; 0 for rank 0, and `size_bits` when there are not as many zeros. Whole
 * words are read, so there are 7 readable bytes behind the bits. */
size_t unary_select_zero(const uint8_t *data, size_t size_bits, size_t rank);

/* The same in portable code, for comparison. */
size_t unary_select_zero_portable(const uint8_t *data, size_t size_bits,
                                  size_t rank);

#endif
