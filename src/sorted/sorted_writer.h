/* SPDX-License-Identifier: MIT */
/* Writes entries that come in order as a sorted table, in one pass. */
#ifndef KSV_SORTED_SORTED_WRITER_H
#define KSV_SORTED_SORTED_WRITER_H

#include <keysieve/io.h>

#include "base/thread_pool.h"
#include "sorted/sorted_table.h"

/* One thread at a time. Needs memory for a few blocks and for three times the
 * longest key, whatever the number of entries. */
typedef struct sorted_writer sorted_writer;

/* `file` is borrowed, empty and open for appending; it has to outlive the
 * writer, as has `pool`, whose threads, `threads` of them, deflate the blocks;
 * NULL: the caller does. The bytes are the same. */
ksv_status sorted_writer_open(ksv_file *file, const sorted_options *options,
                              thread_pool *pool, unsigned threads,
                              const ksv_allocator *allocator,
                              sorted_writer **out, ksv_error *error);

/* Entries come in ascending order of (key, payload), else KSV_ERROR_ARGUMENT;
 * equal ones are kept as often as they are added. `*is_new` (may be NULL) tells
 * whether the key differs from the one before: those who fill a filter add the
 * hash of such a key to it. Keys do not come in the order of their hashes:
 * where the filter fits in memory (its size is known from the number of entries
 * that a sorter has) it is filled there, otherwise the hashes go through an
 * entry_sorter. After a failed append every call fails in the same way. */
ksv_status sorted_writer_add(sorted_writer *writer, sorted_key key,
                             uint64_t payload, bool *is_new, ksv_error *error);

/* Writes what is left and fills `*info` (may be NULL). Does not sync. */
ksv_status sorted_writer_finish(sorted_writer *writer, sorted_info *info,
                                ksv_error *error);

/* Frees the writer (NULL is allowed); what was appended stays in the file. */
void sorted_writer_close(sorted_writer *writer);

#endif
