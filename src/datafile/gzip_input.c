/* SPDX-License-Identifier: MIT */
/* The bytes of a compressed file, read on in pieces through a buffer. */
#include "datafile/gzip_input.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compress/inflate.h"
#include "io/sequential_file.h"

/* What is read past `wanted_end`: more than any step needs. */
#define EXTRA_BYTES ((size_t)2048)

ksv_status gzip_input_open(gzip_input *input, ksv_file *file,
                           size_t capacity_bytes,
                           const ksv_allocator *allocator, ksv_error *error)
{
    memset(input, 0, sizeof *input);
    input->file = file;
    input->buffer =
        memory_alloc(allocator, capacity_bytes + INFLATE_INPUT_PADDING);
    if (input->buffer == NULL)
        return error_set_memory(error);
    input->capacity = capacity_bytes;
    gzip_input_seek(input, 0, UINT64_MAX);
    return KSV_OK;
}

void gzip_input_close(gzip_input *input, const ksv_allocator *allocator)
{
    if (input->buffer != NULL)
        memory_free(allocator, input->buffer,
                    input->capacity + INFLATE_INPUT_PADDING);
    input->buffer = NULL;
}

void gzip_input_seek(gzip_input *input, uint64_t offset, uint64_t wanted_end)
{
    input->wanted_end = wanted_end;
    const size_t held =
        input->end != NULL ? (size_t)(input->end - input->buffer) : 0;
    if (input->end != NULL && offset <= input->end_offset &&
        input->end_offset - offset <= held) {
        input->next = input->end - (input->end_offset - offset);
        return;
    }
    input->next = input->end = input->buffer;
    input->end_offset = offset;
    input->at_end = false;
}

ksv_status gzip_input_fill(gzip_input *input, ksv_error *error)
{
    const size_t left = gzip_input_left(input);
    if (input->next != input->buffer)
        memmove(input->buffer, input->next, left);
    input->next = input->buffer;
    input->end = input->buffer + left;
    size_t size = input->capacity - left;
    const uint64_t wanted = input->wanted_end > input->end_offset
                                ? input->wanted_end - input->end_offset
                                : 0;
    if (wanted < size && size - wanted > EXTRA_BYTES)
        size = (size_t)wanted + EXTRA_BYTES;
    size_t got;
    KSV_TRY(sequential_file_read_some(input->file, input->end_offset,
                                      input->buffer + left, size, &got,
                                      &input->at_end, error));
    memset(input->buffer + left + got, 0, INFLATE_INPUT_PADDING);
    input->end += got;
    input->end_offset += got;
    input->is_idle = got == 0 && !input->at_end;
    input->cost.reads++;
    input->cost.bytes_read += got;
    return KSV_OK;
}

ksv_status gzip_input_need(gzip_input *input, size_t size_bytes, bool *enough,
                           ksv_error *error)
{
    while (gzip_input_left(input) < size_bytes && !input->at_end)
        KSV_TRY(gzip_input_fill(input, error));
    *enough = gzip_input_left(input) >= size_bytes;
    return KSV_OK;
}
