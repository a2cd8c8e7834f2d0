/* SPDX-License-Identifier: MIT */
/* Many hashes at once for a filter that is being written. */
#ifndef KSV_FILTER_FILTER_WRITER_H
#define KSV_FILTER_FILTER_WRITER_H

#include <stddef.h>

#include <keysieve/filter.h>

/* As ksv_filter_writer_add() for each of `count` hashes. When one is refused,
 * none was added. */
ksv_status filter_writer_add_hashes(ksv_filter_writer *writer,
                                    const uint64_t *hashes, size_t count,
                                    ksv_error *error);

#endif
