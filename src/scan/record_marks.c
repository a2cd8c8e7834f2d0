/* SPDX-License-Identifier: MIT */
/* The structure of a stretch of a content with quotes. */
#include "scan/record_marks.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

bool record_marks_serve(const record_split *split)
{
    return split->rule == SPLIT_QUOTES && !split->escapes;
}

ksv_status record_marks_open(record_marks *marks, size_t size,
                             const ksv_allocator *allocator, ksv_error *error)
{
    size_t words = STRUCTURE_BLOCKS(size);
    *marks = (record_marks){.capacity = words};
    marks->ends = memory_zalloc_array(allocator, words, sizeof(uint64_t));
    marks->delimiters = memory_zalloc_array(allocator, words, sizeof(uint64_t));
    marks->quotes = memory_zalloc_array(allocator, words, sizeof(uint64_t));
    if (marks->ends == NULL || marks->delimiters == NULL ||
        marks->quotes == NULL)
        return error_set_memory(error);
    return KSV_OK;
}

void record_marks_close(record_marks *marks, const ksv_allocator *allocator)
{
    size_t bytes = marks->capacity * sizeof(uint64_t);
    memory_free(allocator, marks->ends, bytes);
    memory_free(allocator, marks->delimiters, bytes);
    memory_free(allocator, marks->quotes, bytes);
    *marks = (record_marks){0};
}

void record_marks_find(record_marks *marks, const record_split *split,
                       const uint8_t *data, size_t size)
{
    const uint8_t wanted[] = {split->end_byte, split->delimiter, split->quote};
    uint64_t *const masks[] = {marks->ends, marks->delimiters, marks->quotes};
    marks->data = data;
    marks->size = size;
    split->kernels->find(data, size, wanted, 3, masks);
}

size_t record_marks_complete(record_marks *marks, const record_split *split,
                             split_state *state)
{
    size_t blocks = STRUCTURE_BLOCKS(marks->size);
    structure_fields fields = {marks->ends, marks->delimiters, marks->quotes,
                               ~UINT64_C(0)};
    bool at_line = state->at_line;
    split->kernels->unquote(&fields, blocks, &state->quotes);
    state->at_line = marks->ends[blocks - 1] >> 63 != 0;
    if (at_line)
        return 0;
    for (size_t b = 0; b < blocks; b++) {
        if (marks->ends[b] != 0)
            return b * STRUCTURE_BLOCK_BYTES + bits_lowest(marks->ends[b]) + 1;
    }
    return marks->size;
}
