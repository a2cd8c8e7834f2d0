/* SPDX-License-Identifier: MIT */
/* Reads that are collected, joined where they lie near, and done at once. */
#ifndef KSV_LOOKUP_READ_WAVE_H
#define KSV_LOOKUP_READ_WAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>

/* A disk reads as many bytes in the time that another read would take. */
#define READ_WAVE_GAP_BYTES 8192

/* Never joins a read to the one before. */
#define READ_WAVE_APART SIZE_MAX

typedef struct read_wave {
    const ksv_file_system *fs;      /* borrowed */
    const ksv_allocator *allocator; /* borrowed */
    uint8_t *buffer;                /* NULL before the first read was added */
    size_t capacity_bytes;
    size_t padding_bytes;
    size_t used_bytes;
    ksv_read *reads;
    size_t count;
    size_t capacity;
} read_wave;

/* A part of a wave. */
typedef struct wave_part {
    uint32_t read;     /* the number of the read that brings it */
    uint32_t position; /* in the buffer */
} wave_part;

/* With room for `capacity_bytes` (below 4 GiB) in one wave, and `padding_bytes`
 * of readable memory behind them; there is none before it is needed. */
void read_wave_init(read_wave *wave, const ksv_file_system *fs,
                    const ksv_allocator *allocator, size_t capacity_bytes,
                    size_t padding_bytes);
void read_wave_close(read_wave *wave);

void read_wave_clear(read_wave *wave);

/* Adds a read to the wave. It becomes one with the last read when that is of
 * the same file, begins no later and leaves a gap of `gap_bytes` or less.
 * `*added` is false, and nothing happens, when there is no room for it. */
ksv_status read_wave_add(read_wave *wave, ksv_file *file, uint64_t offset,
                         size_t size_bytes, size_t gap_bytes, wave_part *part,
                         bool *added, ksv_error *error);

/* Does all reads. */
ksv_status read_wave_run(read_wave *wave, ksv_error *error);

/* How many bytes of a part were there to be read, `size_bytes` at most. */
size_t read_wave_got(const read_wave *wave, const wave_part *part,
                     size_t size_bytes);

/* What all reads have brought. */
uint64_t read_wave_bytes(const read_wave *wave);

#endif
