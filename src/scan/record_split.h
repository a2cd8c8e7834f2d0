/* SPDX-License-Identifier: MIT */
/* Where records begin, without reading them: for cutting a content into parts
 * that can be read apart, exactly. */
#ifndef KSV_SCAN_RECORD_SPLIT_H
#define KSV_SCAN_RECORD_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/scan_spec.h"
#include "scan/structure.h"

typedef enum split_rule {
    SPLIT_NEVER = 0, /* only a reader can tell */
    SPLIT_LINES,     /* every line begins a record */
    SPLIT_QUOTES,    /* every line that does not begin within quotes */
    SPLIT_SIZE,      /* every so many bytes */
    SPLIT_HEADERS    /* every line that begins with '>' */
} split_rule;

/* Never changed once made, so that threads may share it. */
typedef struct record_split {
    split_rule rule;
    const structure_kernels *kernels;
    uint8_t end_byte;
    uint8_t delimiter;
    uint8_t quote;
    bool escapes;
    uint64_t record_size;
    uint64_t first_offset; /* where the first record or the header begins */
} record_split;

/* Where a content stands between two bytes. */
typedef struct split_state {
    bool at_line; /* a line begins here, outside quotes */
    /* For SPLIT_QUOTES: */
    structure_quotes quotes;
    uint64_t escaped; /* 1: the next byte is behind a backslash; else 0 */
} split_state;

/* `head` is the beginning of the content, of at least RECORD_SPLIT_HEAD_BYTES
 * unless it is shorter. */
#define RECORD_SPLIT_HEAD_BYTES 3
void record_split_init(record_split *split, const scan_spec *spec,
                       const uint8_t *head, size_t head_bytes);

/* At `split->first_offset`. */
split_state record_split_begin(const record_split *split);

/* Passes the next bytes, which lie at `offset` of the content, and returns the
 * position among them of the first that begins a record, or `size`. With
 * `first_only` the state is of use only when there is none. Passing bytes
 * before `first_offset` changes nothing. */
size_t record_split_pass(const record_split *split, split_state *state,
                         uint64_t offset, const uint8_t *data, size_t size,
                         bool first_only);

#endif
