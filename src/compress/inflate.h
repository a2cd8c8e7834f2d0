/* SPDX-License-Identifier: MIT */
/* Raw DEFLATE (RFC 1951), decoded in steps that end at exact bit positions. */
#ifndef KSV_COMPRESS_INFLATE_H
#define KSV_COMPRESS_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far back a copy may reach. */
#define INFLATE_WINDOW_BYTES 32768

/* Bytes after the input that must be readable; their values do not matter. */
#define INFLATE_INPUT_PADDING 32

/* Bytes past a limit of the output that must be writable. */
#define INFLATE_OUTPUT_SLACK 320

/* With fewer bytes than this (and more to come) a step may make no progress. */
#define INFLATE_INPUT_WANTED 640

typedef enum inflate_stop {
    INFLATE_BLOCK,     /* before the header of a block */
    INFLATE_LIMIT,     /* the output has reached the limit */
    INFLATE_INPUT,     /* the input is used up but for some bytes */
    INFLATE_END,       /* after the last block */
    INFLATE_TRUNCATED, /* the last input ends too early */
    INFLATE_CORRUPT    /* no DEFLATE stream goes on like this; see `problem` */
} inflate_stop;

typedef enum inflate_place {
    INFLATE_AT_BLOCK,  /* before a block header */
    INFLATE_IN_CODED,  /* between two symbols of a block with codes */
    INFLATE_IN_STORED, /* between two bytes of a stored block */
    INFLATE_AT_END
} inflate_place;

/* Primary lookups take this many bits; longer codes go on in a subtable. With
 * more, tables take longer to make and leave the nearest cache less room. */
#define INFLATE_LITERAL_BITS 11
#define INFLATE_DISTANCE_BITS 8

/* Enough for any set of codes: 5 symbols fill no more than one subtable of 16
 * entries, 8 distances no more than one of 128. */
#define INFLATE_LITERAL_ENTRIES (2048 + 928)
#define INFLATE_DISTANCE_ENTRIES (256 + 512)

/* What a copy reads of a window, and maybe more after it. */
typedef struct inflate_source {
    uint16_t
        begin; /* counted so that the window ends at INFLATE_WINDOW_BYTES */
    uint16_t size_bytes;
} inflate_source;

/* Copies have 3 bytes at least and reach back no more than the window does; one
 * more is written without counting. */
#define INFLATE_SOURCES (INFLATE_WINDOW_BYTES / 3 + 2)

/* A decoder. Its members are its own but for those that a comment offers; one
 * thread at a time. It owns no memory and may be copied. */
typedef struct inflater {
    const uint8_t *in_next;
    const uint8_t *in_end;
    bool in_last;
    uint64_t bits; /* read ahead; those above `bit_count` are 0 */
    unsigned bit_count;

    /* Where the next byte goes, and the oldest byte that copies may reach: the
     * caller sets both and moves them when it moves its buffer. */
    uint8_t *out;
    const uint8_t *history;

    /* NULL, or where to note the next copy that reads before `window_end`, at
     * most INFLATE_SOURCES of them: set by the caller. */
    inflate_source *sources;
    const uint8_t *window_end;

    inflate_place place;
    bool final; /* the block is the last one */
    bool fixed_tables;
    uint32_t stored_left;
    unsigned literal_bits;
    unsigned distance_bits;
    const char *problem; /* after INFLATE_CORRUPT: a phrase */
    uint32_t literals[INFLATE_LITERAL_ENTRIES];
    uint32_t distances[INFLATE_DISTANCE_ENTRIES];
} inflater;

/* Makes a decoder of memory that holds anything. */
void inflate_init(inflater *s);

/* Begins a stream: at a block header, without input, output or
 * sources. */
void inflate_begin(inflater *s);

/* Gives the input from its byte 0, in which the first `skip_bits` (0 to 7) bits
 * do not count. Bits read ahead are dropped. `data` is borrowed. */
void inflate_set_input(inflater *s, const uint8_t *data, size_t size_bytes,
                       bool last, unsigned skip_bits);

/* Moves the input: the bytes from in_next on now begin at `data`, and more may
 * follow them. */
void inflate_move_input(inflater *s, const uint8_t *data, size_t size_bytes,
                        bool last);

/* Bits of the input that are not used yet. */
uint64_t inflate_bits_left(const inflater *s);

/* Decodes until something in inflate_stop happens. INFLATE_LIMIT comes at the
 * first symbol border where `out` is at or past `limit`. All but
 * INFLATE_TRUNCATED and INFLATE_CORRUPT may be followed by another call. */
inflate_stop inflate_run(inflater *s, uint8_t *limit);

/* Decodes a whole stream of `in_bytes` bytes into exactly `out_bytes` bytes
 * (INFLATE_OUTPUT_SLACK more must be writable); false: it is another one. */
bool inflate_whole(inflater *s, const uint8_t *in, size_t in_bytes,
                   uint8_t *out, size_t out_bytes);

/* Reads a block header and stops before the first symbol: INFLATE_LIMIT, or a
 * failure. */
inflate_stop inflate_read_header(inflater *s);

#endif
