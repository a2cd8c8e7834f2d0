/* SPDX-License-Identifier: MIT */
/* Radix sort of (hash, payload) entries in memory. */
#include "sort/entry_sorter.h"

#include <string.h>

#include <keysieve/hash.h>

#include "base/error.h"
#include "base/memory.h"

/* Digits of 11 bits: 2,048 counters stay in the first-level cache. */
enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS };

struct entry_sorter {
    ksv_allocator allocator;
    sort_entry *entries;
    size_t count;
    size_t capacity;
};

ksv_status entry_sorter_open(const ksv_allocator *allocator, entry_sorter **out,
                             ksv_error *error)
{
    *out = NULL;
    ksv_allocator a = allocator_or_default(allocator);
    entry_sorter *sorter = memory_zalloc(&a, sizeof *sorter);
    if (sorter == NULL)
        return error_set_memory(error);
    sorter->allocator = a;
    *out = sorter;
    return KSV_OK;
}

void entry_sorter_close(entry_sorter *sorter)
{
    if (sorter == NULL)
        return;
    ksv_allocator a = sorter->allocator;
    memory_free(&a, sorter->entries, sorter->capacity * sizeof(sort_entry));
    memory_free(&a, sorter, sizeof *sorter);
}

ksv_status entry_sorter_add(entry_sorter *sorter, uint64_t hash,
                            uint64_t payload, ksv_error *error)
{
    if (sorter->count == sorter->capacity) {
        void *items = sorter->entries;
        KSV_TRY(memory_grow(&sorter->allocator, &items, &sorter->capacity,
                            sorter->count + 1, sizeof(sort_entry), error));
        sorter->entries = items;
    }
    sorter->entries[sorter->count++] = (sort_entry){hash, payload};
    return KSV_OK;
}

size_t entry_sorter_count(const entry_sorter *sorter)
{
    return sorter->count;
}

static unsigned digit_of(uint64_t hash, unsigned shift)
{
    return (unsigned)(hash >> shift) & (DIGIT_VALUES - 1);
}

/* One stable pass of least-significant-digit radix sort. Returns false when all
 * entries share the digit, so that nothing had to move. */
static bool sort_by_digit(const sort_entry *from, sort_entry *to, size_t count,
                          unsigned shift)
{
    size_t starts[DIGIT_VALUES] = {0};
    for (size_t i = 0; i < count; i++)
        starts[digit_of(from[i].hash, shift)]++;
    if (starts[digit_of(from[0].hash, shift)] == count)
        return false;
    size_t sum = 0;
    for (size_t d = 0; d < DIGIT_VALUES; d++) {
        size_t here = starts[d];
        starts[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(from[i].hash, shift)]++] = from[i];
    return true;
}

ksv_status entry_sorter_finish(entry_sorter *sorter, unsigned hash_bits,
                               ksv_error *error)
{
    for (size_t i = 0; i < sorter->count; i++)
        sorter->entries[i].hash =
            ksv_hash_truncate(sorter->entries[i].hash, hash_bits);
    if (sorter->count < 2)
        return KSV_OK;
    size_t bytes = sorter->capacity * sizeof(sort_entry);
    sort_entry *spare = memory_alloc(&sorter->allocator, bytes);
    if (spare == NULL)
        return error_set_memory(error);
    for (unsigned low = 64 - hash_bits; low < 64; low += DIGIT_BITS) {
        /* The topmost digit is taken from the top, so that the passes before
         * it may overlap it but never leave a bit out. */
        unsigned shift = low + DIGIT_BITS <= 64 ? low : 64 - DIGIT_BITS;
        if (sort_by_digit(sorter->entries, spare, sorter->count, shift)) {
            sort_entry *sorted = spare;
            spare = sorter->entries;
            sorter->entries = sorted;
        }
    }
    memory_free(&sorter->allocator, spare, bytes);
    return KSV_OK;
}

const sort_entry *entry_sorter_entries(const entry_sorter *sorter)
{
    return sorter->entries;
}

uint64_t entry_sorter_distinct(const entry_sorter *sorter)
{
    uint64_t distinct = sorter->count > 0;
    for (size_t i = 1; i < sorter->count; i++)
        distinct += sorter->entries[i].hash != sorter->entries[i - 1].hash;
    return distinct;
}
