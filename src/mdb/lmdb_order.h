/* SPDX-License-Identifier: MIT */
/* The orders that the keys of an LMDB environment can be in. */
#ifndef KSV_MDB_LMDB_ORDER_H
#define KSV_MDB_LMDB_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* LMDB's limit. */
#define LMDB_KEY_BYTES_MOST 511

typedef enum lmdb_order {
    LMDB_ORDER_BYTES, /* LMDB's own: a key before all it is a beginning of */
    LMDB_ORDER_TIED   /* the last LMDB_TIE_BYTES decide where the bytes before
                         them are equal */
} lmdb_order;

#define LMDB_TIE_BYTES 8

static inline int lmdb_compare_bytes(const uint8_t *a, size_t a_bytes,
                                     const uint8_t *b, size_t b_bytes)
{
    size_t shared = a_bytes < b_bytes ? a_bytes : b_bytes;
    int order = shared > 0 ? memcmp(a, b, shared) : 0;
    if (order != 0)
        return order;
    return (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

/* Keys without room for a tie come first, in the order of their bytes; there
 * are none in a file that was checked. */
static inline int lmdb_compare(lmdb_order order, const uint8_t *a,
                               size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
    if (order == LMDB_ORDER_BYTES)
        return lmdb_compare_bytes(a, a_bytes, b, b_bytes);
    if (a_bytes < LMDB_TIE_BYTES || b_bytes < LMDB_TIE_BYTES)
        return a_bytes < LMDB_TIE_BYTES && b_bytes < LMDB_TIE_BYTES
                   ? lmdb_compare_bytes(a, a_bytes, b, b_bytes)
                   : (b_bytes < LMDB_TIE_BYTES) - (a_bytes < LMDB_TIE_BYTES);
    size_t a_text = a_bytes - LMDB_TIE_BYTES;
    size_t b_text = b_bytes - LMDB_TIE_BYTES;
    int result = lmdb_compare_bytes(a, a_text, b, b_text);
    return result != 0 ? result
                       : memcmp(a + a_text, b + b_text, LMDB_TIE_BYTES);
}

#endif
