/* SPDX-License-Identifier: MIT */
/* Sorts the entries of a chunk by (key, payload). */
#ifndef KSV_SORT_KEY_SORT_H
#define KSV_SORT_KEY_SORT_H

#include "sort/key_chunk.h"

/* Needs no memory; the heads of items have no meaning afterwards. */
void key_sort_chunk(key_chunk *chunk);

#endif
