/* SPDX-License-Identifier: MIT */
/* A set of (key, place) in memory, to compare trees with. */
#ifndef KSV_TESTS_SUPPORT_TREE_MODEL_H
#define KSV_TESTS_SUPPORT_TREE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "btree/tree.h"
#include "btree/tree_reader.h"
#include "support/random.h"

typedef struct model_entry {
    uint8_t *key; /* owned */
    size_t key_bytes;
    tree_place place;
} model_entry;

/* Sorted after tree_model_sort(). */
typedef struct tree_model {
    model_entry *entries;
    size_t count;
    size_t capacity;
} tree_model;

void tree_model_release(tree_model *m);
void tree_model_add(tree_model *m, const void *key, size_t key_bytes,
                    uint64_t part, uint64_t offset);
/* Sorts, and drops entries that are there twice. */
void tree_model_sort(tree_model *m);
void tree_model_remove_part(tree_model *m, uint64_t part);
void tree_model_remove(tree_model *m, size_t i);

/* The first entry that is not before `key`; `count` when there is none. */
size_t tree_model_seek(const tree_model *m, tree_key key);

static inline tree_key tree_model_key(const tree_model *m, size_t i)
{
    return (tree_key){m->entries[i].key, m->entries[i].key_bytes};
}

/* How keys are made. */
typedef enum model_keys {
    MODEL_KEYS_SHORT,  /* 0 to 12 bytes of few kinds, NULs too */
    MODEL_KEYS_UUID,   /* 36 bytes, random */
    MODEL_KEYS_SHARED, /* 600 equal bytes, then a few others */
    MODEL_KEYS_LONG,   /* 0 to 5,000 bytes */
    MODEL_KEYS_SAME,   /* few keys, each with very many places */
    MODEL_KEYS_MIXED
} model_keys;

#define MODEL_KEY_BYTES_MOST 5000

/* Into `key`, which has room for MODEL_KEY_BYTES_MOST; returns the size. */
size_t tree_model_make_key(model_keys kind, random_source *random,
                           uint8_t *key);

/* Adds `count` entries of a part with random keys. */
void tree_model_add_random(tree_model *m, model_keys kind,
                           random_source *random, uint64_t part, size_t count);

/* A tree of the model at `directory`/`name`. */
void tree_model_load(const tree_model *m, const char *directory,
                     const char *name, const uint8_t id[16]);

tree_reader *tree_model_open(const char *path, const uint8_t id[16]);

/* Compares what the reader gives with the model: both ways, seeks, finds, the
 * check. */
void tree_model_compare(const tree_model *m, tree_reader *reader,
                        uint64_t seed);

#endif
