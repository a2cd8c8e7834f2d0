/* SPDX-License-Identifier: MIT */
/* Writing a filter file in one pass, given its blocks in order. */
#ifndef KSV_FILTER_FILTER_OUTPUT_H
#define KSV_FILTER_FILTER_OUTPUT_H

#include <keysieve/filter.h>

#include "base/memory.h"
#include "filter/filter_format.h"

typedef struct filter_output {
    ksv_file *file;          /* borrowed */
    ksv_allocator allocator; /* the buffer's */
    ksv_filter_options options;
    filter_layout layout;
    byte_buffer checksums; /* of the pages written */
    uint64_t pages;
} filter_output;

/* Checks the options and writes the header. `output` has to stay where it is;
 * it is to be released in every case. */
ksv_status filter_output_begin(filter_output *output, ksv_file *file,
                               const ksv_filter_options *options,
                               const ksv_allocator *allocator,
                               ksv_error *error);
void filter_output_release(filter_output *output);

/* Appends the next blocks: whole pages, but for the end of the body. */
ksv_status filter_output_body(filter_output *output, const uint8_t *data,
                              size_t size_bytes, ksv_error *error);

/* Writes checksums and footer after the whole body. */
ksv_status filter_output_finish(filter_output *output, uint64_t keys,
                                ksv_error *error);

#endif
