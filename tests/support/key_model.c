/* SPDX-License-Identifier: MIT */
/* What an index has to know, as simply as it can be written: a multimap from
 * keys to places. */
#include "support/key_model.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(const key_entry *a, const void *key, size_t key_bytes)
{
    size_t shorter = a->key_bytes < key_bytes ? a->key_bytes : key_bytes;
    int order = shorter > 0 ? memcmp(a->key, key, shorter) : 0;
    if (order != 0)
        return order;
    return (a->key_bytes > key_bytes) - (a->key_bytes < key_bytes);
}

static int compare_entries(const void *left, const void *right)
{
    const key_entry *a = left;
    const key_entry *b = right;
    int order = compare_keys(a, b->key, b->key_bytes);
    if (order != 0)
        return order;
    if (a->place.file != b->place.file)
        return a->place.file < b->place.file ? -1 : 1;
    if (a->place.offset != b->place.offset)
        return a->place.offset < b->place.offset ? -1 : 1;
    return 0;
}

static void put_in_order(key_model *model)
{
    if (model->unordered && model->count > 0)
        qsort(model->entries, model->count, sizeof(key_entry), compare_entries);
    model->unordered = 0;
}

void key_model_add(key_model *model, const void *key, size_t key_bytes,
                   key_place place)
{
    if (model->count == model->capacity) {
        model->capacity = 2 * model->capacity + 16;
        model->entries =
            realloc(model->entries, model->capacity * sizeof(key_entry));
        if (model->entries == NULL)
            abort();
    }
    uint8_t *copy = malloc(key_bytes + 1);
    if (copy == NULL)
        abort();
    if (key_bytes > 0)
        memcpy(copy, key, key_bytes);
    model->entries[model->count++] = (key_entry){copy, key_bytes, place};
    model->unordered = 1;
}

void key_model_drop_file(key_model *model, uint32_t file)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (model->entries[i].place.file == file)
            free(model->entries[i].key);
        else
            model->entries[kept++] = model->entries[i];
    }
    model->count = kept;
}

const key_entry *key_model_find(key_model *model, const void *key,
                                size_t key_bytes, size_t *count)
{
    put_in_order(model);
    size_t low = 0;
    size_t high = model->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&model->entries[middle], key, key_bytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < model->count &&
           compare_keys(&model->entries[end], key, key_bytes) == 0)
        end++;
    *count = end - low;
    return model->entries != NULL ? model->entries + low : NULL;
}

const key_entry *key_model_entry(key_model *model, size_t i)
{
    put_in_order(model);
    return &model->entries[i];
}

size_t key_model_distinct_keys(key_model *model)
{
    put_in_order(model);
    size_t distinct = 0;
    for (size_t i = 0; i < model->count; i++) {
        const key_entry *entry = &model->entries[i];
        if (i == 0 || compare_keys(entry - 1, entry->key, entry->key_bytes))
            distinct++;
    }
    return distinct;
}

void key_model_release(key_model *model)
{
    for (size_t i = 0; i < model->count; i++)
        free(model->entries[i].key);
    free(model->entries);
    *model = (key_model){0};
}
