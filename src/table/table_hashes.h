/* SPDX-License-Identifier: MIT */
/* The hashes of a table in order, without their payloads. */
#ifndef KSV_TABLE_TABLE_HASHES_H
#define KSV_TABLE_TABLE_HASHES_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/table.h>

/* One thread at a time; the table has to outlive it. */
typedef struct table_hashes table_hashes;

ksv_status table_hashes_open(ksv_table *table, table_hashes **out,
                             ksv_error *error);

/* The hashes (truncated) of the next page that holds entries, as often as they
 * occur there, valid until the next call; `*count` 0: there is none left. What
 * is not in order or does not fit its checksum is KSV_ERROR_CORRUPT. */
ksv_status table_hashes_next(table_hashes *hashes, const uint64_t **values,
                             size_t *count, ksv_error *error);
void table_hashes_close(table_hashes *hashes); /* NULL is allowed */

#endif
