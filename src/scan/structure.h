/* SPDX-License-Identifier: MIT */
/* Bytes that structure a content, found 64 at a time, as masks of bits. */
#ifndef KSV_SCAN_STRUCTURE_H
#define KSV_SCAN_STRUCTURE_H

#include <stddef.h>
#include <stdint.h>

#define STRUCTURE_BLOCK_BYTES 64
#define STRUCTURE_WANTED_MAX 4
/* More blocks than that cannot be listed at once. */
#define STRUCTURE_LIST_BLOCKS_MAX 1024
#define STRUCTURE_LIST_SPARE 4

/* Blocks that hold `size_bytes` bytes. */
#define STRUCTURE_BLOCKS(size_bytes) \
    (((size_bytes) + STRUCTURE_BLOCK_BYTES - 1) / STRUCTURE_BLOCK_BYTES)

/* Between two blocks of a content with quotes. All zero: outside of quotes,
 * where a quote is data. */
typedef struct structure_quotes {
    uint64_t inside;   /* ~0: within quotes, 0: outside */
    uint64_t may_open; /* 1: a quote that comes next opens; 0: it is data */
} structure_quotes;

/* Quotes in fields: each mask has bits for the same blocks. */
typedef struct structure_fields {
    uint64_t *ends;         /* of records; those within quotes are cleared */
    uint64_t *delimiters;   /* likewise */
    const uint64_t *quotes; /* all of them, of whatever meaning */
    /* ~0: a quote behind a closing one goes on with the field; 0: it is data.
     */
    uint64_t doubling;
} structure_fields;

/* Versions of the same functions, for all kinds of processors. Bit i of word b
 * of a mask is about byte 64 * b + i. */
typedef struct structure_kernels {
    const char *name;
    /* For each of 1 to STRUCTURE_WANTED_MAX `wanted` bytes the mask of its
     * occurrences, in STRUCTURE_BLOCKS(size_bytes) words whose last bits, past
     * the end, are 0. Reads nothing past the end. */
    void (*find)(const uint8_t *data, size_t size_bytes, const uint8_t *wanted,
                 size_t wanted_count, uint64_t *const *masks);
    /* Clears what is within quotes. A quote opens only where a field begins,
     * that is, behind an end or a delimiter outside quotes, or as the second of
     * two when they double; elsewhere outside quotes it is data. */
    void (*unquote)(const structure_fields *fields, size_t blocks,
                    structure_quotes *state);
    /* What find() and unquote() would leave in `state`, for `blocks` whole
     * blocks of a content whose `wanted` bytes are end, delimiter and quote. */
    void (*pass)(const uint8_t *data, size_t blocks, const uint8_t *wanted,
                 uint64_t doubling, structure_quotes *state);
    /* The numbers of the bits that are set, in order; returns how many there
     * are. `positions` has room for STRUCTURE_LIST_SPARE more. */
    size_t (*list)(const uint64_t *mask, size_t blocks, uint16_t *positions);
} structure_kernels;

/* Clears bits of quotes and delimiters that stand behind a backslash which is
 * not itself behind one. `*escaped`, between blocks: 1 when the next byte is
 * behind one, else 0. */
void structure_drop_escaped(const uint64_t *backslashes, uint64_t *quotes,
                            uint64_t *delimiters, size_t blocks,
                            uint64_t *escaped);

/* The fastest that this processor runs. Thread-safe. */
const structure_kernels *structure_choose(void);

/* Those that are compiled and run here, for tests; NULL ends them. */
#define STRUCTURE_VERSIONS_MAX 4
void structure_versions(
    const structure_kernels *versions[STRUCTURE_VERSIONS_MAX]);

#endif
