/* SPDX-License-Identifier: MIT */
/* The bytes of a compressed file, read on in pieces through a buffer. */
#ifndef KSV_DATAFILE_GZIP_INPUT_H
#define KSV_DATAFILE_GZIP_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

#include "datafile/datafile.h"

typedef struct gzip_input {
    ksv_file *file; /* borrowed */
    uint8_t *buffer;
    size_t capacity;
    /* What is read and not used. The user moves `next`. */
    const uint8_t *next;
    const uint8_t *end;
    uint64_t end_offset; /* of `end` in the file */
    /* No more is read than up to here, but for what a step needs. */
    uint64_t wanted_end;
    bool at_end;  /* the file ends at `end` */
    bool is_idle; /* it is a source of which nothing has come for a while */
    datafile_cost cost;
} gzip_input;

/* The buffer is followed by INFLATE_INPUT_PADDING bytes. */
ksv_status gzip_input_open(gzip_input *input, ksv_file *file,
                           size_t capacity_bytes,
                           const ksv_allocator *allocator, ksv_error *error);
void gzip_input_close(gzip_input *input, const ksv_allocator *allocator);

/* Goes on at `offset`, reading nothing again that the buffer holds from there
 * on. `wanted_end` may be UINT64_MAX. */
void gzip_input_seek(gzip_input *input, uint64_t offset, uint64_t wanted_end);

/* Reads at least a byte more behind what is left, or sets `at_end` or
 * `is_idle`. */
ksv_status gzip_input_fill(gzip_input *input, ksv_error *error);

/* Makes `size_bytes` (no more than INFLATE_INPUT_WANTED) be there, however long
 * that takes; `*enough` false: the file ends before. */
ksv_status gzip_input_need(gzip_input *input, size_t size_bytes, bool *enough,
                           ksv_error *error);

static inline size_t gzip_input_left(const gzip_input *input)
{
    return (size_t)(input->end - input->next);
}

/* Of the next byte, in the file. */
static inline uint64_t gzip_input_offset(const gzip_input *input)
{
    return input->end_offset - gzip_input_left(input);
}

#endif
