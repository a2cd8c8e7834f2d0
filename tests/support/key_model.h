/* SPDX-License-Identifier: MIT */
/* What an index has to know, as simply as it can be written: a multimap from
 * keys to places. */
#ifndef KSV_TESTS_SUPPORT_KEY_MODEL_H
#define KSV_TESTS_SUPPORT_KEY_MODEL_H

#include <stddef.h>
#include <stdint.h>

typedef struct key_place {
    uint32_t file; /* any number that the test gives a file */
    uint64_t offset;
    uint64_t length;
} key_place;

typedef struct key_entry {
    uint8_t *key;
    size_t key_bytes;
    key_place place;
} key_entry;

/* All zero is an empty one. Entries are ordered when they are asked for. */
typedef struct key_model {
    key_entry *entries;
    size_t count;
    size_t capacity;
    int unordered;
} key_model;

/* Copies the key. The same place may be added twice and counts twice. */
void key_model_add(key_model *model, const void *key, size_t key_bytes,
                   key_place place);

/* Forgets all places in a file. */
void key_model_drop_file(key_model *model, uint32_t file);

/* The entries of a key in the order of (file, offset), valid until the next
 * change; `*count` is 0 for a key that is not there. */
const key_entry *key_model_find(key_model *model, const void *key,
                                size_t key_bytes, size_t *count);

/* Entry `i` of `count` in the order of (key, file, offset), keys as bytes. */
const key_entry *key_model_entry(key_model *model, size_t i);

/* Number of different keys. */
size_t key_model_distinct_keys(key_model *model);

/* Leaves an empty one. */
void key_model_release(key_model *model);

#endif
