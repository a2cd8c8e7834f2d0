/* SPDX-License-Identifier: MIT */
/* Runs a record reader over a content, cut into windows as a test likes. */
#ifndef KSV_TEST_SCAN_RUN_H
#define KSV_TEST_SCAN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/record_reader.h"

typedef struct scan_found {
    uint64_t offset;
    uint64_t length;
    scan_record_kind kind;
    size_t key_at; /* in `keys` */
    size_t key_bytes;
} scan_found;

/* What a reader said about a content. */
typedef struct scan_result {
    scan_found *records;
    size_t count;
    size_t capacity;
    uint8_t *keys;
    size_t keys_bytes;
    size_t keys_capacity;
    ksv_status status; /* that ended it */
    ksv_error error;   /* when not KSV_OK */
    byte_buffer layout;
} scan_result;

/* The sizes of windows: `seed` 0: all at once; 1: byte by byte; others: random
 * ones of up to `largest` bytes. */
typedef struct scan_windows {
    uint64_t seed;
    size_t largest;
} scan_windows;

/* xorshift64; `*state` is not 0. */
uint64_t test_random(uint64_t *state);

void scan_result_init(scan_result *result);
void scan_result_release(scan_result *result);
void scan_result_add(scan_result *result, uint64_t offset, uint64_t length,
                     scan_record_kind kind, const void *key, size_t key_bytes);

/* The key of a record. */
const uint8_t *scan_result_key(const scan_result *result, size_t i);

/* Reads all of `data` with a new reader. Each window is memory of its own that
 * is gone as soon as the reader may not look at it any more. */
void scan_run(const scan_spec *spec, bool skip_bad, const void *data,
              size_t size, scan_windows windows, scan_result *result);

/* As scan_run(), asking for up to `batch` records at once: with 1 a reader
 * takes another way than with many. */
void scan_run_batches(const scan_spec *spec, bool skip_bad, const void *data,
                      size_t size, scan_windows windows, size_t batch,
                      scan_result *result);

/* Begins at `offset` of a content whose rest is `data` and stops after one
 * record. */
void scan_run_at(const scan_spec *spec, const byte_buffer *layout,
                 uint64_t offset, const void *data, size_t size,
                 scan_windows windows, scan_result *result);

/* Whether two runs found the same; else `why` says where they part. */
bool scan_results_agree(const scan_result *a, const scan_result *b,
                        char why[256]);

#endif
