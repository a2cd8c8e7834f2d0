/* SPDX-License-Identifier: MIT */
/* Radix sort of (hash, payload) entries in memory. */
#include "sort/entry_sorter.h"

#include <stdlib.h>
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
    unsigned hash_bits; /* sorted by */
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

/* A digit of the hash at `shift`, of which only bits in `mask` count. */
typedef struct radix_digit {
    unsigned shift;
    uint64_t mask;
} radix_digit;

static unsigned digit_of(uint64_t hash, radix_digit digit)
{
    return (unsigned)((hash & digit.mask) >> digit.shift) & (DIGIT_VALUES - 1);
}

/* One stable pass of least-significant-digit radix sort. Returns false when all
 * entries share the digit, so that nothing had to move. */
static bool sort_by_digit(const sort_entry *from, sort_entry *to, size_t count,
                          radix_digit digit)
{
    size_t starts[DIGIT_VALUES] = {0};
    for (size_t i = 0; i < count; i++)
        starts[digit_of(from[i].hash, digit)]++;
    if (starts[digit_of(from[0].hash, digit)] == count)
        return false;
    size_t sum = 0;
    for (size_t d = 0; d < DIGIT_VALUES; d++) {
        size_t here = starts[d];
        starts[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(from[i].hash, digit)]++] = from[i];
    return true;
}

ksv_status entry_sorter_finish(entry_sorter *sorter, unsigned hash_bits,
                               ksv_error *error)
{
    sorter->hash_bits = hash_bits;
    if (sorter->count < 2)
        return KSV_OK;
    size_t bytes = sorter->capacity * sizeof(sort_entry);
    sort_entry *spare = memory_alloc(&sorter->allocator, bytes);
    if (spare == NULL)
        return error_set_memory(error);
    for (unsigned low = 64 - hash_bits; low < 64; low += DIGIT_BITS) {
        /* The topmost digit is taken from the top, so that the passes before
         * it may overlap it but never leave a bit out. */
        radix_digit digit = {low + DIGIT_BITS <= 64 ? low : 64 - DIGIT_BITS,
                             ksv_hash_truncate(UINT64_MAX, hash_bits)};
        if (sort_by_digit(sorter->entries, spare, sorter->count, digit)) {
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

static int by_whole_hash(const void *a, const void *b)
{
    uint64_t x = ((const sort_entry *)a)->hash;
    uint64_t y = ((const sort_entry *)b)->hash;
    return (x > y) - (x < y);
}

/* Different whole hashes among entries with one truncated hash. Nearly always
 * these are one key, once or repeated. */
static ksv_status count_group(const entry_sorter *sorter, size_t from,
                              size_t to, uint64_t *whole, ksv_error *error)
{
    const sort_entry *group = sorter->entries + from;
    size_t count = to - from;
    size_t i = 1;
    while (i < count && group[i].hash == group[0].hash)
        i++;
    ++*whole;
    if (i == count)
        return KSV_OK;
    sort_entry *copy = memory_alloc(&sorter->allocator, count * sizeof *copy);
    if (copy == NULL)
        return error_set_memory(error);
    memcpy(copy, group, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, by_whole_hash);
    for (i = 1; i < count; i++)
        *whole += copy[i].hash != copy[i - 1].hash;
    memory_free(&sorter->allocator, copy, count * sizeof *copy);
    return KSV_OK;
}

ksv_status entry_sorter_distinct(const entry_sorter *sorter,
                                 sorter_distinct *distinct, ksv_error *error)
{
    *distinct = (sorter_distinct){0, 0};
    for (size_t from = 0, to; from < sorter->count; from = to) {
        uint64_t hash =
            ksv_hash_truncate(sorter->entries[from].hash, sorter->hash_bits);
        for (to = from + 1; to < sorter->count; to++)
            if (ksv_hash_truncate(sorter->entries[to].hash,
                                  sorter->hash_bits) != hash)
                break;
        distinct->truncated++;
        KSV_TRY(count_group(sorter, from, to, &distinct->whole, error));
    }
    return KSV_OK;
}
