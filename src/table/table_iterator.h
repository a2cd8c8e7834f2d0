/* SPDX-License-Identifier: MIT */
/* Iterators for those who have very many of them at once. */
#ifndef KSV_TABLE_TABLE_ITERATOR_H
#define KSV_TABLE_TABLE_ITERATOR_H

#include <stddef.h>

#include <keysieve/table.h>

/* As ksv_table_iterator_open(), with memory for `most_pages` pages (at least 1)
 * that are read at once. */
ksv_status table_iterator_open(ksv_table *table, size_t most_pages,
                               ksv_table_iterator **iterator, ksv_error *error);

#endif
