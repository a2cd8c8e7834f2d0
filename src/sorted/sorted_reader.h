/* SPDX-License-Identifier: MIT */
/* An open sorted table, which threads share. */
#ifndef KSV_SORTED_SORTED_READER_H
#define KSV_SORTED_SORTED_READER_H

#include <keysieve/io.h>

#include "sorted/sorted_table.h"

/* Safe to share between threads; keeps index blocks once they were read. */
typedef struct sorted_reader sorted_reader;

/* Opens the table in `file` (borrowed, has to outlive the reader). Reads and
 * checks header and footer only. KSV_ERROR_CORRUPT, KSV_ERROR_VERSION or
 * KSV_ERROR_IO. */
ksv_status sorted_reader_open(ksv_file *file, const ksv_allocator *allocator,
                              sorted_reader **out, ksv_error *error);
void sorted_reader_close(sorted_reader *reader); /* NULL is allowed */

void sorted_reader_get_info(const sorted_reader *reader, sorted_info *info);

#endif
