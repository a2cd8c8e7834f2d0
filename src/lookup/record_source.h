/* SPDX-License-Identifier: MIT */
/* What stands behind the `source` of a record that is visited. */
#ifndef KSV_LOOKUP_RECORD_SOURCE_H
#define KSV_LOOKUP_RECORD_SOURCE_H

#include <stdint.h>

#include <keysieve/index.h>

#include "datafile/datafile.h"

typedef struct lookup_source {
    datafile *data;
    const char *given_path;
    uint64_t offset;
    uint64_t length;
    ksv_receipt *receipt;
} lookup_source;

static inline void lookup_add_cost(ksv_receipt *receipt,
                                   const datafile_cost *cost)
{
    receipt->data_reads += cost->reads;
    receipt->bytes_read += cost->bytes_read;
    receipt->bytes_inflated += cost->bytes_inflated;
}

#endif
