/* SPDX-License-Identifier: MIT */
/* A file in memory whose bytes a test can see and change, and whose operations
 * can be made to fail. */
#ifndef KSV_TESTS_BYTE_FILE_H
#define KSV_TESTS_BYTE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>

#define BYTE_FILE_NEVER UINT64_MAX

/* Reads may come from many threads; counters are exact with one thread only. */
typedef struct byte_file {
    ksv_file base;
    uint8_t *data;
    size_t size_bytes;
    size_t capacity;
    uint64_t reads;
    uint64_t read_bytes;
    uint64_t appends;
    uint64_t failing_read;   /* the number, from 0, of a read that fails */
    uint64_t failing_append; /* likewise of an append */
} byte_file;

void byte_file_init(byte_file *f);
/* With a copy of `size_bytes` bytes at `data`. */
void byte_file_init_with(byte_file *f, const void *data, size_t size_bytes);
void byte_file_release(byte_file *f);
void byte_file_reset_counters(byte_file *f);

#endif
