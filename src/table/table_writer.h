/* SPDX-License-Identifier: MIT */
/* Many entries at once for a table that is being written. */
#ifndef KSV_TABLE_TABLE_WRITER_H
#define KSV_TABLE_TABLE_WRITER_H

#include <stddef.h>

#include <keysieve/table.h>

#include "hash/hash_entry.h"

/* As ksv_table_writer_add() for each of `count` entries, but hashes need not be
 * truncated. After KSV_ERROR_ARGUMENT some may have been added. */
ksv_status table_writer_add_entries(ksv_table_writer *writer,
                                    const hash_entry *entries, size_t count,
                                    ksv_error *error);

#endif
