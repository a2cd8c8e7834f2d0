/* SPDX-License-Identifier: MIT */
/* The structure of a stretch of a content with quotes: found by one who has not
 * read what is before, completed by one who has. */
#ifndef KSV_SCAN_RECORD_MARKS_H
#define KSV_SCAN_RECORD_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/memory.h>

#include "scan/record_split.h"
#include "scan/structure.h"

/* Bit i of word b of a mask is about byte 64 * b + i of `data`. */
typedef struct record_marks {
    const uint8_t *data; /* borrowed */
    size_t size;
    uint64_t *ends;       /* of records; once complete, outside quotes only */
    uint64_t *delimiters; /* likewise */
    uint64_t *quotes;     /* all of them */
    size_t capacity;      /* words of each */
} record_marks;

/* Whether contents that are split so have marks. */
bool record_marks_serve(const record_split *split);

/* For stretches of up to `size` bytes, a multiple of 64. All zero: none. */
ksv_status record_marks_open(record_marks *marks, size_t size,
                             const ksv_allocator *allocator, ksv_error *error);
void record_marks_close(record_marks *marks, const ksv_allocator *allocator);

void record_marks_find(record_marks *marks, const record_split *split,
                       const uint8_t *data, size_t size);

/* `state` is that at the start of the stretch, then at its end, unless the
 * stretch is the last and shorter than a multiple of 64. Returns the position
 * of the first byte that begins a record, or the size. */
size_t record_marks_complete(record_marks *marks, const record_split *split,
                             split_state *state);

#endif
