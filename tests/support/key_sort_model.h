/* SPDX-License-Identifier: MIT */
/* Keys of many kinds, and a key_sorter compared with qsort. */
#ifndef KSV_TESTS_SUPPORT_KEY_SORT_MODEL_H
#define KSV_TESTS_SUPPORT_KEY_SORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keysieve/io.h>
#include <keysieve/memory.h>
#include <keysieve/status.h>

#include "support/random.h"

typedef struct model_entry {
    const uint8_t *key;
    size_t key_bytes;
    uint64_t payload;
} model_entry;

/* What keys look like. */
typedef enum key_kind {
    KEYS_HEX,     /* 36 characters as of an UUID */
    KEYS_NUMBERS, /* a name and a number, behind a long beginning */
    KEYS_ZEROS,   /* up to 20 bytes, each 0, 1 or 255 */
    KEYS_CHAIN,   /* each is the beginning of others */
    KEYS_LONG,    /* up to 5,000 bytes with 600 in common */
    KEYS_FEW,     /* seven different ones, one of them empty */
    KEYS_KINDS
} key_kind;

/* Entries as they are added, and the memory of their keys. */
typedef struct key_set {
    model_entry *entries;
    size_t count;
    uint8_t *bytes;
} key_set;

/* Payloads are below 2^`payload_bits`, some of them equal. */
key_set key_set_make(key_kind kind, size_t count, unsigned payload_bits,
                     uint64_t seed);
void key_set_release(key_set *model);

/* Below, at or above 0: order by (key, payload), and by key alone. */
int model_entry_order(const void *a, const void *b);
int model_key_order(const model_entry *a, const model_entry *b);
void key_set_sort(key_set *model);

typedef struct key_sort_case {
    key_kind kind;
    size_t count;
    unsigned adders;
    unsigned threads; /* 0: one thread adds and sorts */
    uint64_t memory_bytes;
    bool must_spill;
    uint64_t seed;
    const ksv_allocator *allocator;
    const ksv_file_system *fs; /* NULL: in memory; else with `directory` */
    const char *directory;
} key_sort_case;

/* Runs a case and compares all that comes out; a difference fails the test. */
ksv_status key_sort_case_run(const key_sort_case *c);

/* As key_sort_case_run(), which has to succeed and leave no file. */
void key_sort_case_check(const key_sort_case *c);

#endif
