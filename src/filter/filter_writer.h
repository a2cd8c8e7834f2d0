/* SPDX-License-Identifier: MIT */
/* Many hashes at once for a filter that is being written. */
#ifndef KSV_FILTER_FILTER_WRITER_H
#define KSV_FILTER_FILTER_WRITER_H

#include <stddef.h>

#include <keysieve/filter.h>

#include "filter/filter_span.h"

/* As ksv_filter_writer_add() for each of `count` hashes. When one is refused,
 * none was added. */
ksv_status filter_writer_add_hashes(ksv_filter_writer *writer,
                                    const uint64_t *hashes, size_t count,
                                    ksv_error *error);

/* As filter_writer_add_hashes() for the hashes that `span` was made of. They
 * are not checked. */
ksv_status filter_writer_add_span(ksv_filter_writer *writer,
                                  const filter_span *span, ksv_error *error);

#endif
